/** The worlds dialog: open, install, delete and share worlds. */
import { type App, attempt, messageOf } from "../app.ts";
import { get, post, remove } from "../net/api.ts";
import { t } from "../strings.ts";
import { dialog } from "../ui/dialog.ts";
import { fill, h, show, write } from "../ui/dom.ts";
import { icon } from "../ui/icons.ts";
import type { InstallAnswer, WorldEntry, Worlds } from "../wire/sim.ts";
import { DelayedDeletions } from "./delayed-deletion.ts";
import { forgetBestRecords } from "./world-facts.ts";
import { worldTile } from "./world-tile.ts";

const WORLD_ID = /^[0-9a-f]{32}$/;

export interface WorldsDialog {
  element: HTMLDialogElement;
  open(): void;
  /** Opens the dialog for the world in the URL `/sim?world=…`. */
  openLink(linked: string): void;
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
  const search = h("input", {
    type: "search",
    id: "world-search",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: 100,
    placeholder: t.worldFacts.searchHint,
    "data-testid": "world-search",
    on: { input: () => showMatches() },
  });
  const noMatch = h("p", { class: "hint", role: "status", "data-testid": "no-match", hidden: true });
  const searchField = h("div", { class: "search" }, h("label", { for: "world-search" }, icon("search"), t.worldFacts.search), search);
  body.append(note, form, searchField, noMatch, list);

  /** World name or id from the address of the page; empty if there is none. */
  let linked = "";
  let found: Worlds | null = null;
  const deletions = new DelayedDeletions(
    (name) => attempt(app, remove(`/worlds/${encodeURIComponent(name)}`)).then(refresh),
    () => showList(),
  );

  async function refresh(): Promise<void> {
    found = (await attempt(app, get<Worlds>("/worlds"))) ?? found;
    showList();
  }

  function showList(): void {
    if (!found) return;
    const { current } = found;
    const entries = found.worlds;
    const isLinked = (world: WorldEntry) => linked !== "" && (world.world_id === linked || world.name === linked);
    const target = entries.find(isLinked);
    const isCurrent = target !== undefined && target.name === current;
    const message =
      linked === "" || isCurrent
        ? ""
        : target
          ? t.worlds.linked
          : WORLD_ID.test(linked)
            ? t.worlds.linkedMissing
            : t.worlds.linkedUnknown(linked);
    write(note, message);
    show(note, message !== "");
    if (linked !== "" && !target && WORLD_ID.test(linked)) id.value = linked;
    fill(
      list,
      ...entries.map((world) =>
        worldTile(app, world, {
          current: world.name === current,
          highlighted: isLinked(world),
          open: () => open(world),
          remove: () => {
            deletions.add(world.name);
            tileOf(world)?.querySelector<HTMLElement>("[data-testid=undo-delete]")?.focus();
          },
          deleted: deletions.has(world.name),
          undo: deletions.canUndo(world.name)
            ? () => {
                deletions.undo(world.name);
                tileOf(world)?.querySelector<HTMLElement>("[data-testid=delete]")?.focus();
              }
            : null,
        }),
      ),
    );
    showMatches();
  }

  function tileOf({ name }: WorldEntry): HTMLElement | null {
    return list.querySelector<HTMLElement>(`[data-testid="world-${CSS.escape(name)}"]`);
  }

  /** Shows the worlds that match the search. */
  function showMatches(): void {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const entries = found?.worlds ?? [];
    let count = 0;
    for (const world of entries) {
      const text = `${world.display} ${world.name} ${world.world_id ?? ""}`.toLowerCase();
      const matches = words.every((word) => text.includes(word));
      const tile = tileOf(world);
      if (tile) show(tile, matches);
      if (matches) count++;
    }
    write(noMatch, t.worldFacts.noMatch(search.value.trim()));
    show(noMatch, found !== null && count === 0);
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
    if (!WORLD_ID.test(world_id)) return fail(t.worlds.badId(world_id));
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
      fail(messageOf(refused));
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

  // Every page shows the progress of an installation, even if another page started it.
  app.state.watch((state) => {
    const transition = state?.transition?.kind === "install" ? state.transition : null;
    const percent = Math.round((transition?.progress ?? 0) * 100);
    if (transition) progress.setAttribute("aria-valuenow", String(percent));
    else progress.removeAttribute("aria-valuenow");
    progress.style.setProperty("--part", `${percent}%`);
    show(progress, transition !== null || button.disabled);
  });

  app.world.watch(() => element.open && void refresh());

  function showDialog(): void {
    if (!element.open) {
      search.value = "";
      forgetBestRecords();
      element.showModal();
    }
    void refresh();
  }
  return {
    element,
    open() {
      linked = "";
      showDialog();
    },
    openLink(nameOrId) {
      // A world id may be written in upper case. A world name is case-sensitive.
      const world = /^[0-9a-f]{32}$/i.test(nameOrId) ? nameOrId.toLowerCase() : nameOrId;
      linked = world;
      // No dialog is needed if the world is already open.
      const known = app.world.value;
      if (known?.world === world || known?.world_id === world) return;
      showDialog();
    },
  };
}
