/** The print dialog: the floor of the project as sheets of paper or as one picture. */
import { t } from "../strings.ts";
import { h, show, write } from "../ui/dom.ts";
import { icon } from "../ui/icons.ts";
import { saveBlob } from "../ui/save-blob.ts";
import type { BuilderClient, Paper, PrintSize } from "./client.ts";
import type { Editor } from "./editor.ts";
import { bytesText, type ErrorLine, errorLine, field, openDialog, select } from "./forms.ts";

/** The kinds of prints that the dialog offers. */
const KINDS = [
  { key: "pdf-A4", format: "pdf", paper: "A4" },
  { key: "pdf-A3", format: "pdf", paper: "A3" },
  { key: "pdf-banner", format: "pdf", paper: "banner" },
  { key: "jpg", format: "jpg", paper: undefined },
] as const satisfies readonly { key: string; format: "jpg" | "pdf"; paper: Paper | undefined }[];

const MIN_DPI = 10;
const MAX_DPI = 600;
/**
 * A file larger than this is downloaded by the browser itself. If the page downloaded it, the whole
 * file would be in memory.
 */
const MAX_MEMORY_BYTES = 300e6;
/** Delay between the last change of the form and the request for the size of the print. */
const ASK_AFTER_MS = 250;

/** The size of a print in words. */
export function sizeText(size: PrintSize, isPdf: boolean): string {
  const texts = t.buildTabs.print;
  const pixels = texts.pixels(size.width_px.toLocaleString(t.language), size.height_px.toLocaleString(t.language));
  const bytes = texts.about(bytesText(size.bytes_estimate));
  return [pixels, bytes, isPdf ? texts.sheets(size.sheets) : null].filter(Boolean).join(" · ");
}

/** A bar and a button that cancels the download. */
function progressRow(onCancel: () => void): { element: HTMLElement; set(bytes: number, of: number): void } {
  const bar = h("progress", {
    max: 1,
    value: 0,
    "aria-label": t.buildTabs.print.progress,
    "data-testid": "print-progress",
  });
  const text = h("span", { class: "hint" });
  const cancel = h(
    "button",
    { type: "button", class: "plain", "data-testid": "print-cancel", on: { click: onCancel } },
    t.buildTabs.cancel,
  );
  return {
    element: h("div", { class: "row print-progress", hidden: true }, bar, text, cancel),
    set(bytes, of) {
      // The size is an estimate, so the bar does not reach its end before the file is complete.
      bar.value = of > 0 ? Math.min(0.99, bytes / of) : 0;
      write(text, t.buildTabs.print.received(bytesText(bytes)));
    },
  };
}

/** Keeps the displayed size up to date. The size is `null` while it is unknown. */
function sizeLine(
  editor: Editor,
  client: BuilderClient,
  error: ErrorLine,
  kind: () => (typeof KINDS)[number],
  dpi: () => number,
) {
  const element = h("p", { class: "note", role: "status", "data-testid": "print-size" }, t.buildTabs.print.computing);
  let asking: AbortController | null = null;
  let timer = 0;
  let size: PrintSize | null = null;
  async function ask(): Promise<void> {
    asking?.abort();
    const mine = (asking = new AbortController());
    try {
      await editor.saved();
      const found = await client.printSize(editor.id, { dpi: dpi(), paper: kind().paper }, mine.signal);
      if (mine.signal.aborted) return;
      error.clear();
      size = found;
      write(element, sizeText(found, kind().format === "pdf"));
    } catch (problem) {
      if (mine.signal.aborted) return;
      error.show(problem);
      write(element, t.units.none);
    }
  }
  return {
    element,
    size: () => size,
    update() {
      size = null;
      write(element, t.buildTabs.print.computing);
      clearTimeout(timer);
      timer = window.setTimeout(() => void ask(), ASK_AFTER_MS);
    },
  };
}

function waypointsLink(editor: Editor, client: BuilderClient): HTMLElement {
  const attributes = {
    class: "quiet",
    href: client.waypointsUrl(editor.id),
    download: `${editor.document.value.name}.npy`,
    "data-testid": "waypoints",
  };
  return h("a", attributes, icon("waypoints"), t.buildTabs.print.waypoints);
}

/** Opens the dialog. */
export function printDialog(editor: Editor, client: BuilderClient): void {
  const texts = t.buildTabs.print;
  const paper = select(
    KINDS.map(({ key }) => [key, texts.kinds[key]] as const),
    "pdf-A4",
  );
  paper.dataset["testid"] = "print-kind";
  const dpi = h("input", {
    type: "number",
    min: MIN_DPI,
    max: MAX_DPI,
    step: 1,
    value: 150,
    required: true,
    "data-testid": "print-dpi",
  });
  const error = errorLine("print-error");
  const chosen = (): (typeof KINDS)[number] => KINDS.find(({ key }) => key === paper.value) ?? KINDS[0];
  const size = sizeLine(editor, client, error, chosen, () => dpi.valueAsNumber);
  const start = h("button", { class: "primary wide", "data-testid": "print-start" }, icon("print"), texts.start);
  let download: AbortController | null = null;
  const progress = progressRow(() => download?.abort());
  const form = h(
    "form",
    { class: "form-stack" },
    field(texts.kind, paper),
    field(texts.dpi, dpi, texts.dpiHelp),
    size.element,
    error.element,
    start,
    progress.element,
  );

  async function run(): Promise<void> {
    const { format, paper: sheet } = chosen();
    const address = client.printUrl(editor.id, { dpi: dpi.valueAsNumber, format, paper: sheet });
    const name = `${editor.document.value.name}.${format}`;
    const expected = size.size()?.bytes_estimate ?? 0;
    if (expected > MAX_MEMORY_BYTES) {
      h("a", { href: address, download: name }).click();
      return editor.say(texts.byBrowser);
    }
    download = new AbortController();
    progress.set(0, expected);
    show(progress.element, true);
    try {
      const file = await client.download(address, (bytes) => progress.set(bytes, expected), download.signal);
      saveBlob(file, name);
      editor.say(texts.done(name));
    } catch (problem) {
      if (!download.signal.aborted) throw problem;
    } finally {
      show(progress.element, false);
      download = null;
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    error.clear();
    start.disabled = true;
    void run()
      .catch((problem: unknown) => error.show(problem))
      .finally(() => (start.disabled = false));
  });
  for (const control of [paper, dpi]) control.addEventListener("input", () => dpi.validity.valid && size.update());
  const about = { icon: "print", title: texts.title, testid: "print-dialog", class: "narrow" } as const;
  const element = openDialog(about, form, waypointsLink(editor, client));
  element.addEventListener("close", () => download?.abort());
  size.update();
}
