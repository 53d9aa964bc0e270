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
    { class: "onboard", "aria-label": t.onboard.title, "data-testid": "onboard", title: t.onboard.resize, hidden: true },
    picture,
    h("header", {}, h("span", {}, t.onboard.title), iconButton("close", t.onboard.close, () => (app.onboard.value = false))),
  );
  element.style.width = `${width.value}px`;

  let open = false;
  function stream(): void {
    const wanted = app.onboard.value && app.link.value === "live" && app.world.value !== null && !document.hidden;
    if (wanted === open) return;
    open = wanted;
    // An image whose address is empty lets go of its stream.
    if (wanted) picture.src = `/camera?stream=true&_=${Date.now()}`;
    else picture.removeAttribute("src");
  }
  picture.addEventListener("error", () => {
    if (!open) return;
    open = false;
    setTimeout(stream, RETRY_MS);
  });
  app.onboard.watch((on) => {
    show(element, on);
    stream();
  });
  app.link.watch(stream);
  app.world.watch(stream);
  document.addEventListener("visibilitychange", stream);
  new ResizeObserver(() => {
    const now = element.offsetWidth;
    if (!element.hidden && isWidth(now)) width.value = now;
  }).observe(element);
  return element;
}
