/** What the robot's camera sees, in a panel that can be resized. The stream is open only while it is shown. */
import type { App } from "../app.ts";
import { t } from "../strings.ts";
import { iconButton } from "../ui/card.ts";
import { h, show } from "../ui/dom.ts";
import { remembered } from "../ui/signal.ts";

const isWidth = (value: unknown): value is number => typeof value === "number" && value >= 120 && value <= 1200;
const RETRY_MS = 2000;

export function onboard(app: App): HTMLElement {
  const width = remembered("onboard.width", 300, isWidth);
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

  /** What the image shows: nothing, the stream, or one picture. */
  let shown = "";
  function stream(): void {
    const wanted = app.onboard.value && app.link.value === "live" && app.world.value !== null && !document.hidden;
    const state = app.state.value;
    // Browsers show a picture of a stream when the next one begins. While time stands still there is none, so
    // each moment is asked for by itself.
    const now = !wanted
      ? ""
      : state?.paused
        ? `/camera?at=${state.world}-${state.time}-${state.brightness}`
        : "/camera?stream=true";
    if (now === shown) return;
    shown = now;
    // An image without an address lets go of its stream.
    if (now === "") picture.removeAttribute("src");
    else picture.src = now;
  }
  picture.addEventListener("error", () => {
    if (shown === "") return;
    setTimeout(() => {
      shown = "";
      stream();
    }, RETRY_MS);
  });
  app.onboard.watch((on) => {
    show(element, on);
    stream();
  });
  app.link.watch(stream);
  app.world.watch(stream);
  app.state.watch(stream);
  document.addEventListener("visibilitychange", stream);
  new ResizeObserver(() => {
    const now = element.offsetWidth;
    if (!element.hidden && isWidth(now)) width.value = now;
  }).observe(element);
  return element;
}
