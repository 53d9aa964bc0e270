/** Copies texts to the clipboard. */
import type { App } from "../app.ts";
import { t } from "../strings.ts";
import { h } from "./dom.ts";

/** Copies a text to the clipboard. If the browser refuses, shows the text instead. */
export async function copy(app: App, text: string): Promise<void> {
  const copied = await writeToClipboard(text);
  app.toast(copied ? t.worlds.copied : t.worlds.copyByHand(text), "note");
}

async function writeToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text);
  }
}

/**
 * Copies by selecting the text in a field, because `navigator.clipboard` does not exist on a page
 * that was loaded from another machine without TLS.
 */
function copySelection(text: string): boolean {
  const field = h("textarea", { class: "unseen", "aria-hidden": "true", tabindex: -1 });
  const focused = document.activeElement;
  field.value = text;
  document.body.append(field);
  field.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    field.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
}
