/** Entry point of the world builder: the list of projects, or the editor of one project. */
import "../style/base.css";
import "../style/controls.css";
import "../style/panels.css";
import "../style/build.css";
import "../style/build-tabs.css";
import { ApiError } from "../net/api.ts";
import { applyTheme } from "../settings.ts";
import { t } from "../strings.ts";
import { h } from "../ui/dom.ts";
import { logo } from "../ui/icons.ts";
import { messageOf } from "../ui/platform.ts";
import { BuilderClient } from "./client.ts";
import { openEditor } from "./open-editor.ts";
import { projectList } from "./projects.ts";

/** The URL parameter with the id of the project, as in `/build?project=0123456789abcdef`. */
const PARAMETER = "project";

function addressOf(id: string): string {
  return `/build?${PARAMETER}=${encodeURIComponent(id)}`;
}

function showList(client: BuilderClient): void {
  document.title = t.build.pageTitle;
  document.body.classList.add("build-list");
  document.body.append(
    h(
      "header",
      { class: "build-top" },
      h("span", { class: "brand" }, logo()),
      h("h1", { class: "build-name" }, t.build.title),
      h("span", { class: "spring" }),
      h("a", { class: "quiet", href: "/sim", "data-testid": "to-simulator" }, t.build.simulator),
    ),
    h(
      "main",
      { class: "build-list-main" },
      projectList(client, (id) => location.assign(addressOf(id))),
    ),
  );
}

function showFailure(text: string): void {
  document.body.classList.add("build-list");
  document.body.append(
    h(
      "main",
      { class: "build-failure" },
      h("h1", {}, t.build.title),
      h("p", { class: "error", role: "alert", "data-testid": "failure" }, text),
      h("a", { class: "quiet", href: "/build" }, t.build.projects),
    ),
  );
}

async function main(): Promise<void> {
  applyTheme();
  document.documentElement.lang = t.language;
  const client = new BuilderClient();
  const id = new URLSearchParams(location.search).get(PARAMETER);
  if (id === null) {
    showList(client);
    return;
  }
  if (!/^[0-9a-f]{16}$/.test(id)) {
    showFailure(t.build.badAddress);
    return;
  }
  const loading = h("p", { class: "build-loading", role: "status" }, t.build.loading);
  document.body.append(loading);
  try {
    const view = await client.read(id);
    loading.remove();
    openEditor(client, view);
  } catch (error) {
    loading.remove();
    const isMissing = error instanceof ApiError && error.status === 404;
    showFailure(isMissing ? t.build.missing : t.build.failed(messageOf(error)));
  }
}

void main();
