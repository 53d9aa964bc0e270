/** The dialog of worlds: open, install, delete, share. */
import { type App, attempt, wordsOf } from "../app.ts";
import { get, post } from "../net/api.ts";
import { t } from "../strings.ts";
import { dialog } from "../ui/dialog.ts";
import { fill, h, show, write } from "../ui/dom.ts";
import type { InstallAnswer, WorldEntry, Worlds } from "../wire/sim.ts";
import { worldTile } from "./world-tile.ts";

const ID = /^[0-9a-f]{32}$/;

export interface WorldsDialog {
  element: HTMLDialogElement;
  open(): void;
  /** Follows a link `/sim?world=…`. */
  follow(linked: string): void;
}

export function worlds(app: App): WorldsDialog {
  const { element, body } = dialog({
    icon: "worlds",
    title: t.worlds.title,
    close: t.worlds.close,
    testid: "world-dialog",
  });
  element.classList.add("worlds");
  const note = h("p", { class: "note", role: "status", hidden: true });
  const list = h("ul", { class: "tiles" });

  const id = h("input", {
    type: "text",
    id: "install-id",
    class: "mono",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: 40,
    placeholder: t.worlds.installHint,
    "data-testid": "install-id",
  });
  const button = h("button", { class: "plain", "data-testid": "install" }, t.worlds.installButton);
  const progress = h("div", {
    class: "progress",
    role: "progressbar",
    "aria-label": t.worlds.installButton,
    hidden: true,
    "data-testid": "install-progress",
  });
  const error = h("p", { class: "error", role: "alert", hidden: true, "data-testid": "install-error" });
  const form = h(
    "form",
    { class: "install" },
    h("label", { for: "install-id" }, t.worlds.install),
    h("div", { class: "row" }, id, button),
    progress,
    error,
  );
  body.append(note, list, form);

  let linked = "";

  async function refresh(): Promise<void> {
    const found = await attempt(app, get<Worlds>("/worlds"));
    if (!found) return;
    const entries = found.worlds;
    const isLinked = (world: WorldEntry) => linked !== "" && (world.world_id === linked || world.name === linked);
    const target = entries.find(isLinked);
    const isCurrent = target !== undefined && target.name === found.current;
    const said =
      linked === "" || isCurrent
        ? ""
        : target
          ? t.worlds.linked
          : ID.test(linked)
            ? t.worlds.linkedMissing
            : t.worlds.linkedUnknown(linked);
    write(note, said);
    show(note, said !== "");
    if (linked !== "" && !target && ID.test(linked)) id.value = linked;
    fill(
      list,
      ...entries.map((world) =>
        worldTile(app, world, {
          current: world.name === found.current,
          highlighted: isLinked(world),
          open: () => open(world),
          changed: () => void refresh(),
        }),
      ),
    );
  }

  async function open(world: WorldEntry): Promise<void> {
    const body = world.world_id ? { world_id: world.world_id } : { world: world.file };
    if (await attempt(app, post("/switch", body))) element.close();
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void install(id.value.trim().toLowerCase());
  });

  async function install(world_id: string): Promise<void> {
    show(error, false);
    if (!ID.test(world_id)) return fail(t.worlds.badId);
    const since = performance.now();
    const tick = () => write(button, t.worlds.installing(Math.floor((performance.now() - since) / 1000)));
    const timer = setInterval(tick, 500);
    tick();
    button.disabled = true;
    show(progress, true);
    try {
      const done = await post<InstallAnswer>("/worlds/install", { world_id });
      app.toast(done.cached ? t.worlds.cached(done.name) : t.worlds.installed(done.name), "note");
      id.value = "";
      linked = world_id;
      await refresh();
    } catch (refused) {
      fail(wordsOf(refused));
    } finally {
      clearInterval(timer);
      button.disabled = false;
      write(button, t.worlds.installButton);
      show(progress, false);
    }
  }

  function fail(text: string): void {
    write(error, text);
    show(error, true);
    id.focus();
  }

  /** How far the world is that is being installed, for whoever has the dialog open. */
  app.state.watch((state) => {
    const under = state?.transition?.kind === "install" ? state.transition : null;
    const percent = Math.round((under?.progress ?? 0) * 100);
    if (under) progress.setAttribute("aria-valuenow", String(percent));
    else progress.removeAttribute("aria-valuenow");
    progress.style.setProperty("--part", `${percent}%`);
    show(progress, under !== null || button.disabled);
  });

  app.world.watch(() => element.open && void refresh());

  function present(): void {
    if (!element.open) element.showModal();
    void refresh();
  }
  return {
    element,
    open() {
      linked = "";
      present();
    },
    follow(named) {
      // An id may be written in capitals, a name only as it is.
      const world = /^[0-9a-f]{32}$/i.test(named) ? named.toLowerCase() : named;
      linked = world;
      // The world that is shown already needs no dialog.
      const known = app.world.value;
      if (known?.world === world || known?.world_id === world) return;
      present();
    },
  };
}
