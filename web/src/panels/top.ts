/** The bar at the top: product name, world name, time, connection status, and buttons. */
import type { App } from "../app.ts";
import { keyed } from "../shortcuts.ts";
import { t } from "../strings.ts";
import { iconButton } from "../ui/card.ts";
import { h, setAttribute, show, write } from "../ui/dom.ts";
import { clock, fixed } from "../ui/format.ts";
import { icon, logo, setIcon } from "../ui/icons.ts";

export function top(app: App, open: { worlds(): void; help(): void; settings(): void }): HTMLElement {
  const worldName = h("span", { class: "world-name" }, t.top.noWorld);
  const world = h(
    "button",
    { type: "button", class: "world-button", "data-testid": "worlds", on: { click: open.worlds } },
    icon("worlds"),
    worldName,
  );

  const time = h(
    "output",
    { class: "time", "data-testid": "time", "aria-label": t.top.time },
    t.units.none,
  );
  const rtf = h("span", { class: "rtf", "data-testid": "rtf", title: t.top.rtf });
  const linkText = h("span", { class: "link-text" });
  const link = h(
    "span",
    { class: "link", role: "status", "data-testid": "link" },
    h("span", { class: "dot", "aria-hidden": "true" }),
    linkText,
  );

  const flagText = h("span", {}, t.top.flag);
  const flag = h(
    "button",
    {
      type: "button",
      class: "flag",
      "data-testid": "flag",
      title: keyed(t.top.flagTitle, "evaluation"),
      hidden: true,
      on: { click: () => (app.evaluating.value = !app.evaluating.value) },
    },
    icon("flag"),
    flagText,
  );
  const speaker = icon("mute");
  const sound = h(
    "button",
    {
      type: "button",
      class: "icon-button",
      "data-testid": "sound",
      "aria-pressed": "false",
      on: { click: () => (app.sound.value = !app.sound.value) },
    },
    speaker,
  );
  const docs = h(
    "a",
    {
      class: "icon-button",
      href: "/sim/api/docs",
      target: "_blank",
      rel: "noopener",
      "aria-label": t.top.docs,
      title: t.top.docs,
    },
    icon("docs"),
  );

  // If a test drive of the builder opened this page, the link leads back to its project.
  const project = new URLSearchParams(location.search).get("build") ?? "";
  const back =
    /^[0-9a-f]{16}$/.test(project) &&
    h("a", { class: "button-link", href: `/build?project=${project}`, "data-testid": "back-to-editing" }, icon("pen"), h("span", {}, t.build.backToEditing));

  app.world.watch((now) => {
    write(worldName, now?.display ?? t.top.noWorld);
    setAttribute(world, "aria-label", t.top.chooseWorld(now?.display ?? ""));
    document.title = now ? t.top.pageTitle(now.display, t.product) : t.product;
    show(flag, app.judged);
  });
  app.profile.watch(() => show(flag, app.judged));
  app.evaluation.watch(() => show(flag, app.judged));
  app.evaluating.watch((open) => (flag.ariaExpanded = String(open)));
  app.link.watch((status) => {
    write(linkText, t.link[status]);
    document.body.dataset["link"] = status;
  });
  app.state.watch((state) => {
    write(time, typeof state?.time === "number" ? clock(state.time) : t.units.none);
    const factor = state && t.units.realTimeFactor(fixed(state.rtf, 2));
    write(rtf, state?.paused ? t.top.paused : (factor ?? ""));
    document.body.dataset["evaluating"] = String(state?.evaluation.active ?? false);
  });
  app.sound.watch((on) => {
    setIcon(speaker, on ? "sound" : "mute");
    sound.ariaPressed = String(on);
    setAttribute(sound, "aria-label", on ? t.top.soundOn : t.top.soundOff);
    setAttribute(sound, "title", keyed(on ? t.top.soundOn : t.top.soundOff, "sound"));
  });

  return h(
    "header",
    { class: "top" },
    h("h1", { class: "brand" }, logo(), h("span", {}, t.product)),
    world,
    back,
    h("div", { class: "times" }, time, rtf),
    h("span", { class: "spring" }),
    link,
    flag,
    sound,
    docs,
    iconButton("settings", keyed(t.top.settings, "settings"), open.settings, "settings"),
    iconButton("help", keyed(t.top.help, "help"), open.help, "help"),
  );
}
