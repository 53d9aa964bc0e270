import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin, type ProxyOptions } from "vite";
import { en } from "./src/strings/en.ts";

/** Address of the running simulator that `npm run dev` forwards requests to. */
const SIMULATOR = process.env["CHICANE"] ?? "http://127.0.0.1:8000";

/** Paths that the dev server forwards to the simulator. */
const PATHS = ["/sim/api", "/sim/scene", "/states", "/camera", "/speed", "/steering", "/audio", "/drive"];

/**
 * The simulator accepts changes from its own origin only, and the dev server has another origin.
 * Therefore the proxy removes the headers that name the origin.
 */
const proxy: ProxyOptions = {
  target: SIMULATOR,
  changeOrigin: true,
  ws: true,
  configure(server) {
    const removeOrigin = (request: { removeHeader(name: string): void }) => {
      for (const header of ["origin", "referer", "sec-fetch-site"]) request.removeHeader(header);
    };
    server.on("proxyReq", removeOrigin);
    server.on("proxyReqWs", removeOrigin);
  },
};

/** Fills the placeholders of the pages, so that all their texts are in `src/strings`. */
function htmlTexts(): Plugin {
  return {
    name: "html-texts",
    transformIndexHtml: (html) =>
      html
        .replace("{{language}}", en.language)
        .replace("{{product}}", en.product)
        .replace("{{leaderboard}}", en.leaderboard.pageTitle)
        .replace("{{builder}}", en.build.pageTitle)
        .replace("{{noScript}}", en.noScript),
  };
}

/** Compresses every file at build time, so that the simulator does not compress per request. */
function gzipFiles(): Plugin {
  return {
    name: "gzip-files",
    apply: "build",
    closeBundle() {
      for (const folder of ["dist", "dist/viewer"]) {
        for (const file of readdirSync(join(import.meta.dirname, folder), { withFileTypes: true })) {
          const path = join(import.meta.dirname, folder, file.name);
          if (file.isFile()) writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
        }
      }
    },
  };
}

export default defineConfig({
  base: "/sim/",
  root: import.meta.dirname,
  build: { assetsDir: "viewer", target: "es2022", chunkSizeWarningLimit: 1200, modulePreload: { polyfill: false }, rolldownOptions: { input: ["index.html", "leaderboard.html", "build.html"] } },
  plugins: [htmlTexts(), gzipFiles()],
  // The program panel imports a file of the examples.
  server: { fs: { allow: [import.meta.dirname, join(import.meta.dirname, "../examples")] }, proxy: Object.fromEntries(PATHS.map((path) => [path, proxy])) },
});
