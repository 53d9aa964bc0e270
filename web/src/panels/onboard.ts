/** The robot's camera image in a resizable panel. The stream is open while the panel is visible. */
import type { App } from "../app.ts";
import { t } from "../strings.ts";
import { iconButton } from "../ui/card.ts";
import { h, show } from "../ui/dom.ts";
import { persistedSignal } from "../ui/signal.ts";

const isWidth = (value: unknown): value is number => typeof value === "number" && value >= 120 && value <= 1200;
const RETRY_MS = 2000;

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
      iconButton("close", t.onboard.close, () => (app.onboard.value = false)),
    ),
  );
  element.style.width = `${width.value}px`;

  /** Address of the image: the stream, one image, or empty. */
  let source = "";
  function updateSource(): void {
    const wanted = app.onboard.value && app.link.value === "live" && app.world.value !== null && !document.hidden;
    const state = app.state.value;
    // A browser shows an image of an MJPEG stream only when the next image begins. While the
    // simulation is paused no image follows, so the page requests a single image for each state.
    const now = !wanted
      ? ""
      : state?.paused
        ? `/camera?at=${state.world}-${state.time}-${state.brightness}`
        : "/camera?stream=true";
    if (now === source) return;
    source = now;
    // If the attribute is removed, the browser closes the stream.
    if (now === "") picture.removeAttribute("src");
    else picture.src = now;
  }
  picture.addEventListener("error", () => {
    if (source === "") return;
    setTimeout(() => {
      source = "";
      updateSource();
    }, RETRY_MS);
  });
  app.onboard.watch((on) => {
    show(element, on);
    updateSource();
  });
  app.link.watch(updateSource);
  app.world.watch(updateSource);
  app.state.watch(updateSource);
  document.addEventListener("visibilitychange", updateSource);
  new ResizeObserver(() => {
    const now = element.offsetWidth;
    if (!element.hidden && isWidth(now)) width.value = now;
  }).observe(element);
  return element;
}
