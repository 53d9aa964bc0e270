/** One world in the worlds dialog: preview, name, properties and actions. */
import type { App } from "../app.ts";
import { API } from "../net/api.ts";
import { t } from "../strings.ts";
import { iconButton } from "../ui/card.ts";
import { copy } from "../ui/clipboard.ts";
import { h } from "../ui/dom.ts";
import { icon, type IconName } from "../ui/icons.ts";
import type { WorldEntry } from "../wire/sim.ts";
import { worldFacts } from "./world-facts.ts";

export function worldTile(
  app: App,
  world: WorldEntry,
  options: {
    current: boolean;
    highlighted: boolean;
    open: () => Promise<void>;
    remove: () => void;
    /** Whether the user has requested the deletion of the world. */
    deleted: boolean;
    /** Undoes the deletion; null if there is none, or if it was already sent to the server. */
    undo: (() => void) | null;
  },
): HTMLElement {
  const { current, highlighted } = options;
  const path = `${API}/worlds/${encodeURIComponent(world.name)}`;
  const [w, tall] = world.size;
  const picture = h("img", {
    src: `${path}/thumbnail.png`,
    alt: t.worlds.thumbnail(world.display),
    width: 320,
    height: 240,
    // A world without a preview image can be used, so its tile shows an icon instead.
    on: { error: () => picture.replaceWith(h("div", { class: "no-picture" }, icon("worlds"))) },
  });
  const origin = world.official ? t.worlds.official : world.world_id ? t.worlds.custom : t.worlds.builtIn;
  const badges = [
    h("span", { class: "badge" }, origin),
    world.evaluation && h("span", { class: "badge badge-flag" }, icon("flag"), t.worlds.evaluation),
    !world.verified && h("span", { class: "badge badge-warn" }, t.worlds.unverified),
  ];
  const open = h(
    "button",
    {
      type: "button",
      class: highlighted ? "primary" : "plain",
      disabled: current,
      "data-testid": `open-${world.name}`,
    },
    current ? t.worlds.current : t.worlds.open,
  );
  open.addEventListener("click", () => {
    open.disabled = true;
    open.textContent = t.worlds.opening;
    void options.open().finally(() => {
      open.disabled = false;
      open.textContent = t.worlds.open;
    });
  });

  const download = (name: IconName, label: string, href: string, testid: string) =>
    h(
      "a",
      {
        class: "icon-button",
        href,
        download: "",
        "aria-label": t.worlds.download(label, world.display),
        title: label,
        "data-testid": testid,
      },
      icon(name),
    );
  const actions = options.deleted
    ? deletedLine(world, options.undo)
    : h(
        "div",
        { class: "tile-actions" },
        open,
        h("span", { class: "spring" }),
        world.world_id && iconButton("copy", t.worlds.copyId, () => void copy(app, world.world_id ?? ""), "copy-id"),
        iconButton("link", t.worlds.share, () => void copy(app, shareLink(world)), "share"),
        download("waypoints", t.worlds.waypoints, `${path}/waypoints.npy`, "waypoints"),
        download("print", t.worlds.print, `${path}/print.jpg`, "print"),
      );
  const canDelete = world.deletable && !current && !options.deleted;
  return h(
    "li",
    {
      class: "tile",
      "data-current": current || null,
      "data-highlighted": highlighted || null,
      "data-deleted": options.deleted || null,
      "data-testid": `world-${world.name}`,
    },
    h("div", { class: "tile-picture" }, picture),
    h(
      "div",
      { class: "tile-text" },
      h(
        "div",
        { class: "tile-head" },
        h("h3", {}, world.display),
        canDelete && iconButton("bin", t.worlds.delete, options.remove, "delete"),
      ),
      h(
        "p",
        { class: "tile-facts" },
        ...badges,
        (w > 0 || tall > 0) && h("span", {}, t.worlds.size(metres(w), metres(tall))),
      ),
      worldFacts(app, world),
    ),
    actions,
  );
}

/**
 * A line that says that the world was deleted, with a button that undoes the deletion if that is
 * still possible.
 */
function deletedLine(world: WorldEntry, undo: (() => void) | null): HTMLElement {
  return h(
    "div",
    { class: "tile-actions", role: "status" },
    h("span", { class: "sure" }, t.worldFacts.deleting(world.display)),
    h("span", { class: "spring" }),
    undo &&
      h(
        "button",
        { type: "button", class: "plain", "data-testid": "undo-delete", on: { click: undo } },
        icon("undo"),
        t.worldFacts.undo,
      ),
  );
}

/** The URL that opens this world. */
function shareLink(world: Pick<WorldEntry, "name" | "world_id">): string {
  return `${location.origin}/sim?world=${encodeURIComponent(world.world_id ?? world.name)}`;
}

function metres(value: number): string {
  return String(Number(value.toFixed(1)));
}
