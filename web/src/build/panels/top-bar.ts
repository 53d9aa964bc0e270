/** The bar at the top: name, save status, undo, views, tabs and the actions of the project. */
import { t } from "../../strings.ts";
import { iconButton } from "../../ui/card.ts";
import { h, setAttribute, show, write } from "../../ui/dom.ts";
import { icon, logo, type IconName } from "../../ui/icons.ts";
import type { Signal } from "../../ui/signal.ts";
import { VIEW_MODES, type EditorSession, type ViewMode } from "../session.ts";
import type { Sync } from "../sync.ts";

export type Tab = "draw" | "rules";

const VIEW_ICONS: Readonly<Record<ViewMode, IconName>> = { plan: "top", split: "split", solid: "orbit" };

export interface BarActions {
  drive(): void;
  push(): void;
  publish(): void;
  print(): void;
  help(): void;
}

export function topBar(session: EditorSession, sync: Sync, tab: Signal<Tab>, actions: BarActions): HTMLElement {
  const name = h("span", { class: "world-name" });
  session.document.watch((document) => {
    const title = document.display_name || document.name;
    write(name, title);
    globalThis.document.title = t.build.titleOf(title);
  });
  const undo = iconButton("undo", t.build.undo, () => session.undo(), "undo");
  const redo = iconButton("redo", t.build.redo, () => session.redo(), "redo");
  session.steps.watch((steps) => {
    undo.disabled = !steps.undo;
    redo.disabled = !steps.redo;
  });
  return h(
    "header",
    { class: "build-top" },
    h(
      "a",
      { class: "brand", href: "/build", "aria-label": t.build.backToProjects, title: t.build.backToProjects, "data-testid": "to-projects" },
      logo(),
    ),
    h("h1", { class: "build-name" }, name),
    saveStatus(sync),
    h("span", { class: "spring" }),
    h("div", { class: "group build-undo" }, undo, redo),
    tabs(tab),
    views(session),
    h(
      "div",
      { class: "group build-actions-bar" },
      textButton("upload", t.build.publish, t.build.publish, actions.publish, "publish"),
      textButton("print", t.build.print, t.build.print, actions.print, "print"),
      textButton("respawn", t.build.push, t.build.pushTitle, actions.push, "push"),
    ),
    h(
      "button",
      { type: "button", class: "primary drive-button", title: t.build.driveTitle, "data-testid": "drive", on: { click: actions.drive } },
      icon("play"),
      h("span", {}, t.build.drive),
    ),
    iconButton("help", t.build.help, actions.help, "help"),
  );
}

function textButton(name: IconName, label: string, title: string, onClick: () => void, testid: string): HTMLElement {
  return h(
    "button",
    { type: "button", class: "tool", title, "aria-label": label, "data-testid": testid, on: { click: onClick } },
    icon(name),
    h("span", {}, label),
  );
}

function saveStatus(sync: Sync): HTMLElement {
  const state = h("span", {});
  const editors = h("span", { class: "editors", hidden: true, "data-testid": "editors" });
  const element = h(
    "span",
    { class: "save-status", role: "status", "data-testid": "save-status" },
    h("span", { class: "dot", "aria-hidden": "true" }),
    state,
  );
  const update = () => {
    const shown = sync.status.value === "saved" && !sync.online.value ? "offline" : sync.status.value;
    element.dataset["status"] = shown;
    write(state, t.build.status[shown]);
    setAttribute(element, "title", sync.problem.value || null);
    write(editors, t.build.editors(sync.editors.value));
    show(editors, sync.editors.value > 1);
  };
  for (const signal of [sync.status, sync.online, sync.problem, sync.editors]) {
    (signal as { watch(listener: () => void): void }).watch(update);
  }
  return h("span", { class: "row save-row" }, element, editors);
}

function tabs(tab: Signal<Tab>): HTMLElement {
  const buttons = (["draw", "rules"] as const).map((name) => {
    const button = h(
      "button",
      { type: "button", role: "radio", "data-testid": `tab-${name}`, on: { click: () => (tab.value = name) } },
      h("span", { class: "segment-text" }, t.build.tabs[name]),
    );
    tab.watch((now) => (button.ariaChecked = String(now === name)));
    return button;
  });
  return h("div", { class: "segments flat", role: "radiogroup", "aria-label": t.build.tabs.label }, ...buttons);
}

function views(session: EditorSession): HTMLElement {
  const buttons = VIEW_MODES.map((mode) => {
    const button = h(
      "button",
      {
        type: "button",
        role: "radio",
        "aria-label": t.build.views[mode],
        title: t.build.views[mode],
        "data-testid": `view-${mode}`,
        on: { click: () => (session.view.value = mode) },
      },
      icon(VIEW_ICONS[mode]),
    );
    session.view.watch((now) => (button.ariaChecked = String(now === mode)));
    return button;
  });
  return h("div", { class: "segments flat views-switch", role: "radiogroup", "aria-label": t.build.views.label }, ...buttons);
}
