/**
 * The publish dialog: publishes the open project, and changes worlds that were published before.
 */
import { t } from "../strings.ts";
import { iconButton } from "../ui/card.ts";
import { fill, h, show } from "../ui/dom.ts";
import { s } from "../ui/svg.ts";
import type { Access, BuilderClient, Published, PublishedWorld } from "./client.ts";
import type { Editor } from "./editor.ts";
import { busy, dateText, type ErrorLine, errorLine, field, openDialog, radios, select } from "./forms.ts";
import { encode, pathOf } from "./qr.ts";

const ACCESS: readonly Access[] = ["public", "unlisted", "private"];

/**
 * The address that opens the world in this simulator. If the world is not installed, the page
 * offers to install it.
 */
function studentLink(worldId: string): string {
  return `${location.origin}/sim?world=${encodeURIComponent(worldId)}`;
}

/** A QR code of a link; a sentence if the link is too long for a code. */
export function qrCode(link: string): Element {
  const code = encode(link);
  if (!code) return h("p", { class: "hint" }, t.buildTabs.publish.qrTooLong);
  const { path, size } = pathOf(code);
  return s(
    "svg",
    {
      viewBox: `0 0 ${size} ${size}`,
      class: "qr",
      role: "img",
      "aria-label": t.buildTabs.publish.qr,
      "shape-rendering": "crispEdges",
      "data-testid": "publish-qr",
    },
    s("path", { class: "qr-light", d: `M0 0h${size}v${size}h${-size}z` }),
    s("path", { class: "qr-dark", d: path }),
  );
}

async function copy(editor: Editor, text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    editor.say(t.buildTabs.publish.copied);
  } catch {
    // On a page without TLS, the browser refuses access to the clipboard. The user can select the
    // text beside the button instead.
    editor.say(t.buildTabs.publish.copyByHand);
  }
}

/** A value that the user can copy. */
function copyable(editor: Editor, label: string, text: string, testid: string): HTMLElement {
  const value = h("input", { type: "text", class: "mono", readonly: true, value: text, "data-testid": testid });
  value.addEventListener("focus", () => value.select());
  const button = iconButton("copy", t.buildTabs.publish.copy(label), () => void copy(editor, text), `${testid}-copy`);
  return h("div", { class: "row copy-row" }, field(label, value), button);
}

/** Id, link and QR code of a published world. */
function result(editor: Editor, published: Published): HTMLElement {
  const texts = t.buildTabs.publish;
  const link = studentLink(published.world_id);
  return h(
    "section",
    { class: "publish-result", "aria-label": texts.done, "data-testid": "publish-result" },
    h(
      "div",
      { class: "form-stack" },
      h("h3", {}, texts.done),
      copyable(editor, texts.id, published.world_id, "publish-id"),
      copyable(editor, texts.link, link, "publish-link"),
      h("p", { class: "hint" }, texts.install),
    ),
    qrCode(link),
  );
}

/** The form that publishes the open project. */
function publishForm(editor: Editor, client: BuilderClient, onPublished: (published: Published) => void): HTMLElement {
  const texts = t.buildTabs.publish;
  const { display_name, name } = editor.document.value;
  const title = h("input", {
    type: "text",
    maxlength: 100,
    required: true,
    value: display_name ?? name,
    "data-testid": "publish-name",
  });
  let access: Access = "unlisted";
  const choices = radios<Access>(
    texts.access,
    ACCESS.map((one) => [one, texts.levels[one]] as const),
    access,
    (one) => (access = one),
  );
  const error = errorLine("publish-error");
  const send = h("button", { class: "primary wide", "data-testid": "publish-send" }, texts.send);
  const form = h("form", { class: "form-stack" }, field(texts.name, title), choices, error.element, send);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void busy(send, error, async () => {
      // The server publishes the stored version, so the last changes must be saved first.
      await editor.saved();
      return client.publish(editor.id, access, title.value.trim());
    }).then((published) => published && onPublished(published));
  });
  return form;
}

/** A published world, with a form that changes its name and its access. */
function publishedItem(editor: Editor, client: BuilderClient, world: PublishedWorld, error: ErrorLine): HTMLElement {
  const texts = t.buildTabs.publish;
  const title = h("input", {
    type: "text",
    maxlength: 100,
    required: true,
    value: world.name,
    "data-testid": "published-name",
  });
  const access = select(
    ACCESS.map((one) => [one, texts.levelNames[one]] as const),
    world.access,
  );
  access.dataset["testid"] = "published-access";
  const save = h(
    "button",
    { class: "plain", "aria-label": texts.saveWorld(world.name), "data-testid": "published-save" },
    t.buildTabs.save,
  );
  const form = h("form", { class: "published-form" }, field(texts.name, title), field(texts.accessShort, access), save);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const change = { name: title.value.trim(), access: access.value as Access };
    void busy(save, error, () => client.changePublished(world.world_id, change)).then((done) => {
      if (done !== undefined) editor.say(texts.changed(change.name));
    });
  });
  const link = studentLink(world.world_id);
  const code = h("div", { hidden: true });
  const toggle = h("button", { type: "button", class: "plain", "aria-expanded": "false" }, texts.showQr);
  toggle.addEventListener("click", () => {
    if (code.hidden) fill(code, qrCode(link));
    show(code, code.hidden === true);
    toggle.setAttribute("aria-expanded", String(code.hidden !== true));
  });
  return h(
    "li",
    { class: "published-world", "data-testid": `published-${world.world_id}` },
    form,
    h(
      "p",
      { class: "row published-facts" },
      h("code", { class: "mono" }, world.world_id),
      iconButton("link", texts.copyLinkOf(world.name), () => void copy(editor, link)),
      h("span", { class: "hint" }, dateText(world.published ?? "")),
      h("span", { class: "spring" }),
      toggle,
    ),
    code,
  );
}

/** Opens the dialog. */
export function publishDialog(editor: Editor, client: BuilderClient): void {
  const texts = t.buildTabs.publish;
  const place = h("div", {});
  const list = h("ul", { class: "published-list" });
  const none = h("p", { class: "hint", hidden: true }, texts.none);
  const error = errorLine("published-error");

  async function refresh(): Promise<void> {
    try {
      const worlds = await client.published();
      show(none, worlds.length === 0);
      fill(list, ...worlds.map((world) => publishedItem(editor, client, world, error)));
    } catch (problem) {
      error.show(problem);
    }
  }

  const form = publishForm(editor, client, (published) => {
    fill(place, result(editor, published));
    editor.say(texts.done);
    void refresh();
  });
  openDialog(
    { icon: "link", title: texts.title, testid: "publish-dialog" },
    form,
    place,
    h("section", { class: "form-stack" }, h("h3", {}, texts.published), error.element, none, list),
  );
  void refresh();
}
