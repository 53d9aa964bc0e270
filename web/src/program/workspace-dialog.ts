/** The dialog that lists the files of the simulator's workspace and opens one of them. */
import { API, ApiError, failure, get } from "../net/api.ts";
import { t } from "../strings.ts";
import { dialog } from "../ui/dialog.ts";
import { fill, h, show, write } from "../ui/dom.ts";
import { icon } from "../ui/icons.ts";
import { messageOf } from "../ui/platform.ts";
import type { Workspace, WorkspaceFile } from "../wire/sim.ts";

export interface WorkspaceDialog {
  element: HTMLDialogElement;
  open(): void;
}

/** Formats a size: in bytes below 1 KiB, otherwise in KiB. */
export function sizeText(bytes: number): string {
  const texts = t.program.workspace;
  return bytes < 1024 ? texts.bytes(bytes) : texts.kilobytes((bytes / 1024).toFixed(bytes < 10_240 ? 1 : 0));
}

async function readText(path: string): Promise<string> {
  const response = await fetch(`${API}/workspace/file?path=${encodeURIComponent(path)}`).catch(() => null);
  if (!response) throw new ApiError(0, t.link.noResponse);
  if (!response.ok) throw failure(response, (await response.json().catch(() => null)) as never);
  return response.text();
}

/** `onOpen` is called with the chosen file. */
export function workspaceDialog(onOpen: (path: string, text: string) => void): WorkspaceDialog {
  const texts = t.program.workspace;
  const { element, body } = dialog({ icon: "search", title: texts.title, close: texts.close, testid: "workspace-dialog" });
  element.classList.add("workspace");
  const search = h("input", { type: "search", id: "workspace-search", autocomplete: "off", "data-testid": "workspace-search" });
  const error = h("p", { class: "error", role: "alert", hidden: true, "data-testid": "workspace-error" });
  const state = h("p", { class: "hint", role: "status" });
  const list = h("ul", { class: "workspace-files", "data-testid": "workspace-files" });
  body.append(
    h("p", { class: "hint" }, texts.help),
    h("div", { class: "search" }, h("label", { for: search.id }, icon("search"), texts.search), search),
    error,
    state,
    list,
  );
  let workspace: Workspace | null = null;

  function fail(problem: unknown): void {
    write(error, problem === null ? "" : messageOf(problem));
    show(error, problem !== null);
  }

  function draw(): void {
    if (!workspace) {
      write(state, texts.loading);
      return fill(list);
    }
    const query = search.value.trim();
    const found = workspace.files.filter((file) => file.path.toLowerCase().includes(query.toLowerCase()));
    const none = workspace.files.length === 0 ? texts.empty : texts.noMatch(query);
    write(state, found.length === 0 ? none : workspace.more ? texts.more : "");
    show(state, state.textContent !== "");
    fill(list, ...found.map((file) => h("li", {}, fileButton(file))));
  }

  function fileButton({ path, bytes }: WorkspaceFile): HTMLElement {
    const button = h(
      "button",
      { type: "button", class: "workspace-file", "data-testid": "workspace-file" },
      h("span", { class: "mono" }, path),
      h("span", { class: "hint" }, sizeText(bytes)),
    );
    button.addEventListener("click", async () => {
      fail(null);
      button.disabled = true;
      try {
        const text = await readText(path);
        element.close();
        onOpen(path, text);
      } catch (problem) {
        fail(problem);
      }
      button.disabled = false;
    });
    return button;
  }

  search.addEventListener("input", draw);
  return {
    element,
    open() {
      fail(null);
      workspace = null;
      search.value = "";
      show(state, true);
      draw();
      element.showModal();
      get<Workspace>("/workspace").then(
        (found) => {
          workspace = found;
          draw();
        },
        (problem: unknown) => {
          show(state, false);
          fail(problem);
        },
      );
    },
  };
}
