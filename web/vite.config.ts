import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin, type ProxyOptions } from "vite";

/** Where a simulator runs, for `npm run dev`. */
const SIMULATOR = process.env["CHICANE"] ?? "http://127.0.0.1:8000";

/** Everything that the simulator answers, and not this server. */
const PATHS = ["/sim/api", "/sim/scene", "/states", "/camera", "/speed", "/steering", "/audio", "/drive"];

/** The simulator does what its own page asks for, and this page is served from elsewhere. */
const proxy: ProxyOptions = {
  target: SIMULATOR,
  changeOrigin: true,
  ws: true,
  configure(server) {
    const plain = (request: { removeHeader(name: string): void }) => {
      for (const header of ["origin", "referer", "sec-fetch-site"]) request.removeHeader(header);
    };
    server.on("proxyReq", plain);
    server.on("proxyReqWs", plain);
  },
};

/** Packs every file of the page once, so that the simulator need not. */
function packed(): Plugin {
  return {
    name: "packed",
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
  build: { assetsDir: "viewer", target: "es2022", chunkSizeWarningLimit: 1200, modulePreload: { polyfill: false } },
  plugins: [packed()],
  server: { proxy: Object.fromEntries(PATHS.map((path) => [path, proxy])) },
});
