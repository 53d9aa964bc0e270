/**
 * The robot's camera image in a resizable panel: the live stream, or the image at the moment of a
 * replay. While the simulation is paused, the panel loads single images instead of the stream. The
 * stream is open only while the panel is visible.
 */
import type { App } from "../app.ts";
import { cameraAddress } from "../net/runs.ts";
import { keyed } from "../shortcuts.ts";
import { t } from "../strings.ts";
import { iconButton } from "../ui/card.ts";
import { h, show } from "../ui/dom.ts";
import { listen, onEnd } from "../ui/scope.ts";
import { persistedSignal } from "../ui/signal.ts";

const isWidth = (value: unknown): value is number => typeof value === "number" && value >= 120 && value <= 1200;
const RETRY_MS = 2000;
const TICKS_PER_S = 200;

export function onboard(app: App): HTMLElement {
  const width = persistedSignal("onboard.width", 300, isWidth);
  const picture = h("img", { alt: t.onboard.picture, draggable: "false", "data-testid": "onboard-picture" });
  const element = h(
    "section",
    {
      class: "onboard",
      "aria-label": t.onboard.title,
      "data-testid": "onboard",
      title: t.onboard.resize,
      hidden: true,
    },
    picture,
    h(
      "header",
      {},
      h("span", {}, t.onboard.title),
      iconButton("close", keyed(t.onboard.close, "onboard"), () => (app.onboard.value = false)),
    ),
  );
  element.style.width = `${width.value}px`;

  /** Address of the image: the stream, one image, or empty. */
  let source = "";
  /** Whether an image of a replay is being loaded. The next image is requested after that. */
  let isLoading = false;

  /** Address of the image at the moment of a replay. */
  function replaySource(): string {
    const { value: replay } = app.replay;
    // All moments at which the same camera frame is shown have the same URL, so each image is
    // requested once.
    return replay ? cameraAddress(replay.session, frameTime(replay.now, app.profile.value?.camera.rate ?? 30)) : "";
  }

  function updateSource(): void {
    const visible = app.onboard.value && !document.hidden;
    if (app.run.value) {
      if (isLoading && visible) return;
      return load(visible ? replaySource() : "");
    }
    isLoading = false;
    const wanted = visible && app.link.value === "live" && app.world.value !== null;
    const state = app.state.value;
    // A browser shows an image of an MJPEG stream only when the next image begins. While the
    // simulation is paused, no next image comes. Therefore the page requests a single image for
    // each state.
    load(
      !wanted
        ? ""
        : state?.paused
          ? `/camera?at=${state.world}-${state.time}-${state.brightness}`
          : "/camera?stream=true",
    );
  }

  function load(now: string): void {
    if (now === source) return;
    isLoading = now !== "" && app.run.value !== null;
    source = now;
    // Removing the attribute makes the browser close the stream.
    if (now === "") picture.removeAttribute("src");
    else picture.src = now;
  }
  picture.addEventListener("load", () => {
    isLoading = false;
    if (app.run.value) updateSource();
  });
  picture.addEventListener("error", () => {
    if (source === "") return;
    setTimeout(() => {
      isLoading = false;
      source = "";
      updateSource();
    }, RETRY_MS);
  });
  let stopReplay = () => {};
  app.replay.watch((replay) => {
    stopReplay();
    isLoading = false;
    stopReplay = replay ? replay.player.time.watch(updateSource) : () => {};
    updateSource();
  });
  app.run.watch(updateSource);
  app.onboard.watch((on) => {
    show(element, on);
    updateSource();
  });
  app.link.watch(updateSource);
  app.world.watch(updateSource);
  app.state.watch(updateSource);
  listen(document, "visibilitychange", updateSource);
  // Removing the attribute closes the stream. Otherwise the browser would keep the stream open
  // after the panel was removed.
  onEnd(() => picture.removeAttribute("src"));
  new ResizeObserver(() => {
    const now = element.offsetWidth;
    if (!element.hidden && isWidth(now)) width.value = now;
  }).observe(element);
  return element;
}

/**
 * Time of the camera frame that is shown at a moment. Frame k is taken at the first tick (5 ms) at
 * or after the time k / rate.
 */
export function frameTime(now: number, rate: number): number {
  const timeOf = (frame: number) => Math.max(0, Math.ceil((frame * TICKS_PER_S) / rate - 1e-6)) / TICKS_PER_S;
  const frame = Math.max(0, Math.floor(now * rate + 1e-6));
  return timeOf(frame) <= now + 1e-6 ? timeOf(frame) : timeOf(frame - 1);
}
