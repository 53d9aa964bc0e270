/** The dialog in which a student hands in a program. */
import { messageOf } from "../ui/platform.ts";
import { ApiError } from "../net/api.ts";
import { t } from "../strings.ts";
import { dialog } from "../ui/dialog.ts";
import { h, show, write } from "../ui/dom.ts";
import { icon } from "../ui/icons.ts";
import { persistedSignal } from "../ui/signal.ts";
import type { SubmissionReceived } from "../wire/sim.ts";
import { handIn } from "./client.ts";
import { ofDrop, ofFile, ofFolder, type Upload } from "./upload.ts";

const isText = (value: unknown): value is string => typeof value === "string";

export interface HandInDialog {
  element: HTMLDialogElement;
  open(): void;
  setAnonymous(anonymous: boolean): void;
}

/** A hidden file field, and the button that opens it. */
function chooser(text: string, testid: string, attributes: object, onFiles: (files: File[]) => void) {
  const input = h("input", { type: "file", hidden: true, "data-testid": testid, ...attributes });
  const button = h("button", { type: "button", class: "plain", on: { click: () => input.click() } }, text);
  input.addEventListener("change", () => {
    onFiles([...(input.files ?? [])]);
    // Without this reset, choosing the same file again would cause no event.
    input.value = "";
  });
  return [input, button];
}

/**
 * `onHandedIn` is called with the receipt. `onSignedOut` is called if the simulator refuses the
 * submission, because it requires a token that the page does not have.
 */
export function handInDialog(
  onHandedIn: (received: SubmissionReceived) => void,
  onSignedOut: () => void,
): HandInDialog {
  const texts = t.leaderboard;
  const { element, body } = dialog({ icon: "flag", title: texts.handInTitle, close: texts.close, testid: "hand-in-dialog" });
  element.classList.add("hand-in");
  const kept = persistedSignal("student", "", isText);
  let upload: Upload | null = null;
  let choice = 0;

  const name = h("input", {
    id: "student",
    maxlength: 60,
    autocomplete: "name",
    required: true,
    value: kept.value,
    "data-testid": "student",
  });
  const help = h("p", { class: "hint" }, texts.nameHelp);
  const chosen = h("p", { class: "drop-chosen", hidden: true, "data-testid": "chosen" });
  const error = h("p", { class: "board-problem", role: "alert", hidden: true, "data-testid": "hand-in-error" });
  const send = h("button", { class: "primary wide", "data-testid": "hand-in-send" }, texts.send);

  function fail(text: string): void {
    write(error, text);
    show(error, text !== "");
  }

  /** Reads the student's choice. A later choice replaces it. */
  async function take(read: () => Upload | Promise<Upload>): Promise<void> {
    const mine = ++choice;
    fail("");
    try {
      const found = await read();
      if (mine !== choice) return;
      upload = found;
      write(chosen, found.label);
    } catch (problem) {
      if (mine !== choice) return;
      upload = null;
      fail(problem instanceof DOMException ? texts.notRead : messageOf(problem));
    }
    show(chosen, upload !== null);
    drop.classList.toggle("filled", upload !== null);
  }

  const drop = h(
    "div",
    { class: "drop", "data-testid": "drop" },
    icon("download"),
    h("p", { class: "drop-title" }, texts.drop),
    h("p", { class: "hint" }, texts.dropHelp),
    h(
      "div",
      { class: "row drop-buttons" },
      chooser(texts.chooseFile, "file", { accept: ".zip,.py" }, (files) => files[0] && void take(() => ofFile(files[0]))),
      chooser(texts.chooseFolder, "folder", { webkitdirectory: true }, (files) => void take(() => ofFolder(files))),
    ),
    chosen,
  );
  for (const type of ["dragenter", "dragover"] as const) {
    element.addEventListener(type, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  for (const type of ["dragleave", "drop"] as const) element.addEventListener(type, () => drop.classList.remove("over"));
  element.addEventListener("drop", (event) => {
    event.preventDefault();
    const transfer = event.dataTransfer;
    if (transfer) void take(() => ofDrop(transfer));
  });

  const form = h("form", { class: "hand-in-form", novalidate: true }, h("label", { for: "student" }, texts.name), name, help, drop, error, send);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit();
  });

  async function submit(): Promise<void> {
    if (name.value.trim() === "") return fail(texts.noName);
    if (!upload) return fail(texts.noFile);
    fail("");
    send.disabled = true;
    write(send, texts.sending);
    try {
      const received = await handIn(name.value, upload);
      kept.value = name.value;
      element.close();
      onHandedIn(received);
    } catch (problem) {
      if (problem instanceof ApiError && problem.status === 401) return onSignedOut();
      fail(messageOf(problem));
    } finally {
      send.disabled = false;
      write(send, texts.send);
    }
  }

  body.append(form);
  return {
    element,
    open() {
      fail("");
      element.showModal();
      (name.value === "" ? name : send).focus();
    },
    setAnonymous: (anonymous) => write(help, anonymous ? texts.nameHelpAnonymous : texts.nameHelp),
  };
}
