/** Creates all parts of the editor and connects them. */
import { t } from "../strings.ts";
import { dialog } from "../ui/dialog.ts";
import { h, show, write } from "../ui/dom.ts";
import { messageOf } from "../ui/platform.ts";
import { Signal } from "../ui/signal.ts";
import { Actions } from "./actions.ts";
import type { BuilderClient, ProjectView } from "./client.ts";
import type { ObjectKind } from "./document.ts";
import type { Point } from "./geometry.ts";
import { groupObjects, takeKeptGroups } from "./groups.ts";
import { keys } from "./keys.ts";
import { findingsPanel } from "./panels/findings.ts";
import { inspector } from "./panels/inspector.ts";
import { palette } from "./panels/palette.ts";
import { statusBar } from "./panels/status-bar.ts";
import { topBar, type Tab } from "./panels/top-bar.ts";
import { browserStore, PendingStore } from "./pending.ts";
import { PictureCache } from "./pictures-cache.ts";
import { choosePicture } from "./pictures.ts";
import { snapTargets } from "./plan/drags.ts";
import { Gestures } from "./plan/gestures.ts";
import { PlanView } from "./plan/plan-view.ts";
import { Previewer } from "./previewer.ts";
import { printDialog } from "./print.ts";
import { publishDialog } from "./publish.ts";
import { EditorSession } from "./session.ts";
import { snap } from "./snapping.ts";
import { SolidView } from "./solid/solid-view.ts";
import { Sync } from "./sync.ts";
import { installTestHook } from "./test-hook.ts";

/** Time for which a message is shown. */
const MESSAGE_MS = 4500;

/** Length of the longer side of a new picture on the floor. */
const PICTURE_M = 1;

export function openEditor(client: BuilderClient, view: ProjectView): void {
  const store = browserStore();
  const editor = `${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
  const previewer = new Previewer((document) => client.preview(document, view.id));
  const session = new EditorSession(view.id, view.document, previewer);
  const sync = new Sync(client, view.id, editor, session, new PendingStore(store, view.id, editor), view);
  session.onCommit = () => sync.changed();
  session.saved = () => sync.saved();
  session.say = messages();
  const actions = new Actions(session, store);
  actions.fetchPictures = (project, names) => fetchPictures(client, project, view.id, names, pictures);
  const pictures = new PictureCache((name) => client.fileUrl(view.id, name), () => {
    plan.refresh();
    solid.value?.refresh();
  });
  const solid = new Signal<SolidView | null>(null);
  const plan = new PlanView(session, pictures);
  const gestures = new Gestures(plan);
  const tab = new Signal<Tab>("draw");
  const pick = async (purpose: "ground" | "decal" | "texture") => {
    const name = await choosePicture(session, client, purpose);
    if (name) pictures.clear();
    return name;
  };
  const add = (kind: ObjectKind | "picture", wanted: Point) => {
    const at = snap(wanted, null, snapTargets(session, new Set()), session.snap.value, plan.viewport.metres(10));
    if (kind === "picture") void addPicture(actions, pictures, pick, at);
    else actions.add(kind, at);
    plan.canvas.focus({ preventScroll: true });
  };
  const findings = findingsPanel(session, (point) => plan.goTo(point), () => (tab.value = "rules"));
  const fit = () => {
    plan.fit();
    solid.value?.fit();
  };
  const help = helpDialog();
  const bar = {
    drive: () => void drive(session, client, true),
    push: () => void drive(session, client, false),
    publish: () => publishDialog(session, client),
    print: () => printDialog(session, client),
    help: () => help.showModal(),
  };
  const stage = makeStage(session, plan, pictures, solid, gestures);
  const rules = h("main", { class: "rules-tab", hidden: true });
  const side = h("aside", { class: "build-side" }, inspector(session, actions, pick), findings.element);
  const tools = palette(session, plan, add);
  const status = statusBar(session, plan, fit);
  document.body.classList.add("build");
  document.body.append(topBar(session, sync, tab, bar), tools, stage, side, rules, status, help);
  showTabs(session, client, tab, rules, [tools, stage, side, status]);
  keys(session, actions, plan, gestures, {
    add: (kind) => add(kind, plan.viewport),
    fit,
    help: bar.help,
    drive: bar.drive,
    nextFinding: () => findings.next(),
  });
  announceSelection(session, actions);
  addEventListener("online", () => sync.retryNow());
  addEventListener("pagehide", () => sync.close());
  // When the user goes back, the browser may show this page from its back/forward cache. The
  // document of that page can be outdated, so the page is reloaded.
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  sync.start();
  const kept = takeKeptGroups(store, view.id, session.document.value);
  if (kept.length > 0) {
    session.apply(t.build.steps.group, (draft) => kept.forEach((names) => groupObjects(draft, names)));
  }
  installTestHook(session, actions, sync, plan, solid, previewer);
}

/** Creates the views. The 3D view is created when it is shown for the first time. */
function makeStage(
  session: EditorSession,
  plan: PlanView,
  pictures: PictureCache,
  solid: Signal<SolidView | null>,
  gestures: Gestures,
): HTMLElement {
  const planBox = h("div", { class: "plan-box" }, plan.canvas, penBar(session, gestures));
  const solidBox = h("div", { class: "solid-box" });
  const stage = h("main", { class: "stage" }, planBox, solidBox);
  session.view.watch((mode) => {
    stage.dataset["view"] = mode;
    show(planBox, mode !== "solid");
    show(solidBox, mode !== "plan");
    if (mode === "plan" || solidBox.childElementCount > 0) return;
    try {
      solid.value = new SolidView(session, pictures);
      solidBox.append(solid.value.canvas);
    } catch (error) {
      console.warn(error);
      solidBox.append(h("p", { class: "build-loading" }, t.build.noWebgl));
    }
  });
  session.tool.watch((tool) => {
    plan.canvas.dataset["tool"] = tool;
    plan.canvas.dataset["pan"] = String(tool === "pan");
    plan.canvas.style.cursor = "";
    session.pen.value = tool === "pen" ? [] : null;
  });
  return stage;
}

/**
 * The help text and the buttons that are shown while the user draws a line. The buttons are needed
 * on touch screens, which have no Enter key.
 */
function penBar(session: EditorSession, gestures: Gestures): HTMLElement {
  const element = h(
    "div",
    { class: "pen-bar", hidden: true },
    h("span", {}, t.build.penHelp),
    h(
      "button",
      { type: "button", class: "primary", "data-testid": "pen-finish", on: { click: () => gestures.finishLine(true) } },
      t.build.finish,
    ),
    h(
      "button",
      { type: "button", class: "plain", "data-testid": "pen-cancel", on: { click: () => (session.tool.value = "select") } },
      t.build.stop,
    ),
  );
  session.tool.watch((tool) => show(element, tool === "pen"));
  return element;
}

/** Shows the drawing or the rules. The rules are loaded when they are opened for the first time. */
function showTabs(
  session: EditorSession,
  client: BuilderClient,
  tab: Signal<Tab>,
  rules: HTMLElement,
  drawing: readonly HTMLElement[],
): void {
  let isLoaded = false;
  tab.watch((now) => {
    for (const part of drawing) show(part, now === "draw");
    show(rules, now === "rules");
    document.body.dataset["tab"] = now;
    if (now !== "rules" || isLoaded) return;
    isLoaded = true;
    import("./rules.ts").then(
      ({ rulesTab }) => rules.append(rulesTab(session, client)),
      (error: unknown) => {
        isLoaded = false;
        session.say(messageOf(error));
      },
    );
  });
}

function helpDialog(): HTMLDialogElement {
  const { element, body } = dialog({ icon: "help", title: t.build.keys.title, close: t.build.keys.close, testid: "help-dialog" });
  element.classList.add("help");
  body.tabIndex = 0;
  body.append(
    h(
      "dl",
      { class: "keys" },
      ...t.build.keys.rows.map(({ keys, action }) =>
        h("div", {}, h("dt", {}, ...keys.map((key) => h("kbd", {}, key))), h("dd", {}, action)),
      ),
    ),
  );
  return element;
}

/**
 * Saves, builds, and switches the simulator to the world. If `opens` is true, also opens the
 * simulator's page.
 */
async function drive(session: EditorSession, client: BuilderClient, opens: boolean): Promise<void> {
  const buttons = document.querySelectorAll<HTMLButtonElement>("[data-testid=drive], [data-testid=push]");
  session.say(t.build.driving);
  for (const button of buttons) button.disabled = true;
  try {
    await session.saved();
    await client.drive(session.id);
    if (opens) location.assign(`/sim?build=${session.id}`);
    else session.say(t.build.pushed);
  } catch (error) {
    const hasErrors = session.preview.value?.findings.some(({ severity }) => severity === "error");
    session.say(hasErrors ? t.build.hasErrors : messageOf(error));
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

async function addPicture(
  actions: Actions,
  pictures: PictureCache,
  pick: (purpose: "decal") => Promise<string | null>,
  at: Point,
): Promise<void> {
  const name = await pick("decal");
  if (!name) return;
  const image = new Image();
  image.src = pictures.urlOf(name);
  const [w, h] = await image.decode().then(
    () => [image.naturalWidth, image.naturalHeight],
    () => [1, 1],
  );
  const scale = PICTURE_M / Math.max(1, w, h);
  actions.addPicture(name, at, { width: Math.max(0.01, w * scale), height: Math.max(0.01, h * scale) });
}

/** Copies pictures of another project into this one, so that pasted items keep them. */
async function fetchPictures(
  client: BuilderClient,
  from: string,
  to: string,
  names: readonly string[],
  pictures: PictureCache,
): Promise<void> {
  if (!/^[0-9a-f]{16}$/.test(from)) return;
  const { files } = await client.read(to);
  const missing = names.filter((name) => !files.some((file) => file.name === name));
  for (const name of missing) {
    const bytes = await client.download(client.fileUrl(from, name), () => {});
    await client.putFile(to, name, bytes);
  }
  if (missing.length > 0) pictures.clear();
}

/** Adds the area for messages to the page. Returns the function that shows a message. */
function messages(): (text: string) => void {
  const area = h("div", { class: "build-messages", role: "status", "data-testid": "messages" });
  document.body.append(area);
  let timer = 0;
  return (text) => {
    area.replaceChildren(h("p", { class: "toast" }, text));
    clearTimeout(timer);
    timer = window.setTimeout(() => area.replaceChildren(), MESSAGE_MS);
  };
}

/** Tells screen readers what is selected. */
function announceSelection(session: EditorSession, actions: Actions): void {
  const live = h("p", { class: "unseen", role: "status", "data-testid": "announced" });
  document.body.append(live);
  session.selection.watch((selection) => {
    const [first] = selection;
    const one = selection.size === 1 ? t.build.itemSelected(actions.nameOf(first)) : "";
    write(live, selection.size > 1 ? t.build.selected(selection.size) : one);
  });
}
