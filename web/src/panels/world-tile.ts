/** One world in the worlds dialog: preview, name, properties and actions. */
import { type App, attempt } from "../app.ts";
import { API, remove } from "../net/api.ts";
import { t } from "../strings.ts";
import { iconButton } from "../ui/card.ts";
import { copy } from "../ui/clipboard.ts";
import { h, fill } from "../ui/dom.ts";
import { icon, type IconName } from "../ui/icons.ts";
import type { WorldEntry } from "../wire/sim.ts";

export function worldTile(
  app: App,
  world: WorldEntry,
  options: {
    current: boolean;
    highlighted: boolean;
    /** Whether the tile asks to confirm a deletion. A refreshed list keeps the question. */
    confirming: boolean;
    setConfirming: (on: boolean) => void;
    open: () => Promise<void>;
    changed: () => void;
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
    // A world without a preview image stays usable, so show an icon instead.
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

  const actions = h("div", { class: "tile-actions" });
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
  const showActions = (): void =>
    fill(
      actions,
      open,
      h("span", { class: "spring" }),
      world.world_id && iconButton("copy", t.worlds.copyId, () => void copy(app, world.world_id ?? ""), "copy-id"),
      iconButton("link", t.worlds.share, () => void copy(app, shareLink(world)), "share"),
      download("waypoints", t.worlds.waypoints, `${path}/waypoints.npy`, "waypoints"),
      download("print", t.worlds.print, `${path}/print.jpg`, "print"),
      canDelete && iconButton("bin", t.worlds.delete, askToDelete, "delete"),
    );
  const canDelete = world.deletable && !current;
  const askToDelete = (): void => {
    options.setConfirming(true);
    confirmDelete();
  };
  const cancelDelete = (): void => {
    options.setConfirming(false);
    showActions();
  };
  const confirmDelete = (): void => {
    const yes = h("button", { type: "button", class: "danger", "data-testid": "delete-yes" }, t.worlds.deleteYes);
    yes.addEventListener("click", () => {
      void attempt(app, remove(`/worlds/${encodeURIComponent(world.name)}`)).then((done) => {
        if (done) app.toast(t.worlds.deleted(world.display), "note");
        options.changed();
      });
    });
    fill(
      actions,
      h("span", { class: "sure" }, t.worlds.deleteConfirm(world.display)),
      h("span", { class: "spring" }),
      h("button", { type: "button", class: "plain", on: { click: cancelDelete } }, t.worlds.deleteNo),
      yes,
    );
    yes.focus();
  };
  if (options.confirming && canDelete) confirmDelete();
  else showActions();
  return h(
    "li",
    {
      class: "tile",
      "data-current": current || null,
      "data-highlighted": highlighted || null,
      "data-testid": `world-${world.name}`,
    },
    h("div", { class: "tile-picture" }, picture),
    h(
      "div",
      { class: "tile-text" },
      h("h3", {}, world.display),
      h(
        "p",
        { class: "tile-facts" },
        ...badges,
        (w > 0 || tall > 0) && h("span", {}, t.worlds.size(metres(w), metres(tall))),
      ),
    ),
    actions,
  );
}

/** The address that opens this world. */
function shareLink(world: Pick<WorldEntry, "name" | "world_id">): string {
  return `${location.origin}/sim?world=${encodeURIComponent(world.world_id ?? world.name)}`;
}

function metres(value: number): string {
  return String(Number(value.toFixed(1)));
}
