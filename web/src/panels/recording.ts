/**
 * The button that starts and stops a recording. It is hidden if the token does not permit
 * recordings.
 */
import { type App, attempt } from "../app.ts";
import { ApiError, get, post } from "../net/api.ts";
import { t } from "../strings.ts";
import { h, setAttribute, show, write } from "../ui/dom.ts";
import { clock } from "../ui/format.ts";
import { icon } from "../ui/icons.ts";
import { listen, onEnd } from "../ui/scope.ts";
import type { Recording, RecordingChanged } from "../wire/sim.ts";

/**
 * Intervals of the requests for the state of the recording, during a recording and otherwise. No
 * event contains this state.
 */
const ACTIVE_MS = 1000;
const IDLE_MS = 5000;
const FORBIDDEN = 403;

export function recording(app: App): HTMLElement {
  let active = false;
  let permitted = true;
  let timer = 0;
  const time = h("span", { class: "recording-time", "data-testid": "recording-time", hidden: true });
  const button = h(
    "button",
    { type: "button", "data-testid": "recording-button", on: { click: () => void toggle() } },
    icon("record"),
    time,
  );
  const element = h("div", { class: "segments recording", hidden: true }, button);

  function apply(now: Recording): void {
    if (active && !now.active && now.failure) app.toast(t.recording.ended(now.failure));
    active = now.active;
    const label = active ? t.recording.stop(now.file ?? "") : t.recording.start;
    button.ariaPressed = String(active);
    setAttribute(button, "aria-label", label);
    setAttribute(button, "title", label);
    write(time, clock(now.duration));
    show(time, active);
    show(element, true);
  }

  async function toggle(): Promise<void> {
    button.disabled = true;
    const stopping = active;
    const changed = await attempt(app, post<RecordingChanged>(stopping ? "/recording/stop" : "/recording/start"));
    button.disabled = false;
    if (!changed) return;
    active = false; // This click is the reason for the end, so no message is shown.
    apply(changed.recording);
    if (stopping) app.toast(t.recording.saved(`${changed.recording.folder}/${changed.recording.file}`), "note");
    schedule();
  }

  async function refresh(): Promise<void> {
    try {
      apply(await get<Recording>("/recording"));
    } catch (error) {
      permitted = !(error instanceof ApiError && error.status === FORBIDDEN);
      show(element, permitted && !element.hidden);
    }
    schedule();
  }

  function schedule(): void {
    clearTimeout(timer);
    if (!permitted || app.link.value !== "live" || document.hidden) return;
    timer = window.setTimeout(() => void refresh(), active ? ACTIVE_MS : IDLE_MS);
  }

  app.link.watch((status) => {
    permitted = true;
    if (status === "live") void refresh();
  });
  listen(document, "visibilitychange", schedule);
  onEnd(() => {
    permitted = false;
    clearTimeout(timer);
  });
  return element;
}
