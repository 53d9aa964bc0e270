/** The list of projects: create, open, duplicate, rename, import, export, delete and restore. */
import { t } from "../strings.ts";
import { iconButton } from "../ui/card.ts";
import { fill, h, show } from "../ui/dom.ts";
import { icon } from "../ui/icons.ts";
import type { BuilderClient, ProjectLists, ProjectSummary } from "./client.ts";
import { busy, dateText, type ErrorLine, errorLine, fileChooser, metres } from "./forms.ts";
import { newProjectDialog, rename } from "./new-project.ts";

/** Largest file that the simulator imports. */
const MAX_IMPORT_BYTES = 40 * 1024 * 1024;

/** The actions that the tile of a project offers. */
interface Actions {
  open(): void;
  duplicate(button: HTMLButtonElement): void;
  rename(title: string): Promise<void>;
  remove(button: HTMLButtonElement): void;
}

function picture(client: BuilderClient, project: ProjectSummary): HTMLElement {
  const image = h("img", {
    src: client.thumbnailUrl(project.id, project.revision),
    alt: t.buildTabs.thumbnail(project.display_name),
    width: 320,
    height: 240,
    loading: "lazy",
    // A project with errors has no picture, so an icon is shown instead.
    on: { error: () => image.replaceWith(h("div", { class: "no-picture" }, icon("worlds"))) },
  });
  return h("div", { class: "tile-picture" }, image);
}

function facts(project: ProjectSummary): HTMLElement {
  const texts = t.buildTabs;
  return h(
    "p",
    { class: "tile-facts" },
    project.errors > 0 && h("span", { class: "badge badge-error" }, texts.errors(project.errors)),
    project.warnings > 0 && h("span", { class: "badge badge-warn" }, texts.warnings(project.warnings)),
    h("span", {}, texts.size(metres(project.width), metres(project.height))),
    h("span", {}, texts.nodes(project.nodes)),
    h("span", {}, texts.objects(project.objects)),
    h("span", {}, texts.updated(dateText(project.updated))),
  );
}

/** The form that replaces the title while the user renames a project. */
function renameForm(project: ProjectSummary, actions: Actions, onDone: () => void): HTMLElement {
  const input = h("input", {
    type: "text",
    maxlength: 100,
    required: true,
    value: project.display_name,
    "aria-label": t.buildTabs.title,
    "data-testid": "rename-title",
  });
  const form = h(
    "form",
    { class: "row" },
    input,
    h("button", { class: "plain", "data-testid": "rename-save" }, t.buildTabs.save),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const title = input.value.trim();
    if (title === "" || title === project.display_name) onDone();
    else void actions.rename(title);
  });
  form.addEventListener("keydown", (event) => event.key === "Escape" && onDone());
  requestAnimationFrame(() => input.select());
  return form;
}

function tile(client: BuilderClient, project: ProjectSummary, actions: Actions): HTMLElement {
  const texts = t.buildTabs;
  const title = h("div", { class: "tile-title" });
  const showTitle = (): void => fill(title, h("h3", {}, project.display_name));
  showTitle();
  const startRename = (): void => fill(title, renameForm(project, actions, showTitle));
  const of = (label: string): string => texts.actionOf(label, project.display_name);
  const duplicate = iconButton("copy", of(texts.duplicate), () => actions.duplicate(duplicate), "duplicate");
  const remove = iconButton("bin", of(texts.delete), () => actions.remove(remove), "delete");
  return h(
    "li",
    { class: "tile", "data-testid": `project-${project.id}` },
    picture(client, project),
    h("div", { class: "tile-text" }, title, facts(project)),
    h(
      "div",
      { class: "tile-actions" },
      h(
        "button",
        {
          type: "button",
          class: "plain",
          "aria-label": of(texts.open),
          "data-testid": "open",
          on: { click: actions.open },
        },
        texts.open,
      ),
      h("span", { class: "spring" }),
      iconButton("pen", of(texts.rename), startRename, "rename"),
      duplicate,
      h(
        "a",
        {
          class: "icon-button",
          href: client.exportUrl(project.id),
          download: "",
          "aria-label": of(texts.export),
          title: texts.export,
          "data-testid": "export",
        },
        icon("download"),
      ),
      remove,
    ),
  );
}

/** The button that imports a file. A file can also be dropped on the list. */
function importer(
  client: BuilderClient,
  target: HTMLElement,
  error: ErrorLine,
  onImported: (id: string) => void,
): HTMLElement[] {
  const take = (file: File, button: HTMLButtonElement): void => {
    if (file.size > MAX_IMPORT_BYTES) return error.show(t.buildTabs.importTooLarge);
    void busy(button, error, () => client.importFile(file)).then((view) => view && onImported(view.id));
  };
  const [input, button] = fileChooser(t.buildTabs.import, ".json,.zip", "import", take);
  target.addEventListener("dragover", (event) => event.preventDefault());
  target.addEventListener("drop", (event) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) take(file, button);
  });
  return [input, button];
}

/** Title of the page, and the buttons that create projects. */
function listHead(
  client: BuilderClient,
  target: HTMLElement,
  error: ErrorLine,
  open: (id: string) => void,
): HTMLElement {
  const texts = t.buildTabs;
  return h(
    "header",
    { class: "projects-head row" },
    h("h2", {}, texts.projects),
    h("span", { class: "spring" }),
    ...importer(client, target, error, open),
    h(
      "button",
      { type: "button", class: "primary", "data-testid": "new", on: { click: () => newProjectDialog(client, open) } },
      texts.newProject,
    ),
  );
}

/** Calls `refresh` when the page is shown again: another page may have changed a project. */
function whenShown(element: HTMLElement, refresh: () => void): void {
  const onShown = (): void => {
    if (!element.isConnected) document.removeEventListener("visibilitychange", onShown);
    else if (!document.hidden) refresh();
  };
  document.addEventListener("visibilitychange", onShown);
}

/** The deleted projects, each with a button that restores it. */
function deletedList(
  deleted: readonly ProjectSummary[],
  restore: (project: ProjectSummary, button: HTMLButtonElement) => void,
): HTMLElement[] {
  return deleted.map((project) => {
    const label = t.buildTabs.actionOf(t.buildTabs.restore, project.display_name);
    const button = h(
      "button",
      { type: "button", class: "plain", "aria-label": label, "data-testid": "restore" },
      t.buildTabs.restore,
    );
    button.addEventListener("click", () => restore(project, button));
    return h("li", { class: "row" }, h("span", {}, project.display_name), h("span", { class: "spring" }), button);
  });
}

/** The list page. Calls `open` with the id of the project that the user opens. */
export function projectList(client: BuilderClient, open: (id: string) => void): HTMLElement {
  const texts = t.buildTabs;
  const error = errorLine("projects-error");
  const list = h("ul", { class: "tiles" });
  const none = h("p", { class: "note", hidden: true }, texts.noProjects);
  const status = h("div", { class: "note undo-note row", role: "status", hidden: true, "data-testid": "deleted-note" });
  const deleted = h("ul", { class: "deleted-list" });
  const bin = h("details", { class: "deleted", hidden: true }, h("summary", {}, texts.deletedProjects), deleted);
  const element = h("section", { class: "projects", "data-testid": "projects" });
  element.append(listHead(client, element, error, open), error.element, status, none, list, bin);

  async function refresh(): Promise<void> {
    try {
      draw(await client.list());
    } catch (problem) {
      error.show(problem);
    }
  }

  function draw({ projects, deleted: removed }: ProjectLists): void {
    show(none, projects.length === 0);
    show(bin, removed.length > 0);
    fill(list, ...projects.map((project) => tile(client, project, actionsOf(project))));
    fill(deleted, ...deletedList(removed, (project, button) => void restore(project, button)));
  }

  async function restore(project: ProjectSummary, button: HTMLButtonElement): Promise<void> {
    if (!(await busy(button, error, () => client.restore(project.id)))) return;
    fill(status, texts.restored(project.display_name));
    show(status, true);
    await refresh();
  }

  async function remove(project: ProjectSummary, button: HTMLButtonElement): Promise<void> {
    if (!(await busy(button, error, () => client.remove(project.id)))) return;
    const undo = h(
      "button",
      { type: "button", class: "plain", "data-testid": "undo-delete" },
      icon("undo"),
      texts.undo,
    );
    undo.addEventListener("click", () => void restore(project, undo));
    fill(status, h("span", {}, texts.deleted(project.display_name)), undo);
    show(status, true);
    await refresh();
    // The button that had the focus is gone. The focus moves to Undo, which the user may need next.
    undo.focus();
  }

  function actionsOf(project: ProjectSummary): Actions {
    return {
      open: () => open(project.id),
      duplicate: (button) =>
        void busy(button, error, () => client.create({ from: "project", project: project.id })).then(
          (view) => view && refresh(),
        ),
      rename: async (title) => {
        error.clear();
        try {
          await rename(client, await client.read(project.id), title);
        } catch (problem) {
          error.show(problem);
        }
        await refresh();
      },
      remove: (button) => void remove(project, button),
    };
  }

  whenShown(element, () => void refresh());
  void refresh();
  return element;
}
