/**
 * The bar at the bottom during a replay: timeline with marks, play, single frames, speed, and a
 * button that ends the replay.
 */
import type { App } from "../app.ts";
import type { Mark, MarkKind } from "../replay/marks.ts";
import { SPEEDS } from "../replay/player.ts";
import type { Replay } from "../replay/replay.ts";
import { keyed } from "../shortcuts.ts";
import { t } from "../strings.ts";
import { iconButton } from "../ui/card.ts";
import { fill, h, setAttribute, write } from "../ui/dom.ts";
import { preciseClock, signed } from "../ui/format.ts";
import { icon, setIcon } from "../ui/icons.ts";

/** Marks of one kind are merged if they are closer than this fraction of the timeline. */
const MERGE_PART = 1 / 250;
/** Largest number of texts in the tooltip of merged marks. */
const MAX_TEXTS = 4;

export function replayBar(app: App): HTMLElement {
  const marks = h("div", { class: "timeline-marks", "aria-hidden": "true" });
  const scrub = h("input", {
    type: "range",
    class: "timeline-slider",
    min: 0,
    step: 0.01,
    "aria-label": t.replay.timeline,
    "data-testid": "timeline",
    on: { input: () => app.replay.value?.player.seek(Number(scrub.value)) },
  });
  const playIcon = icon("play");
  const playText = h("span", {}, t.replay.play);
  const play = h(
    "button",
    {
      type: "button",
      class: "primary pause",
      title: keyed(t.replay.playTitle, "pause"),
      "data-testid": "replay-play",
      on: { click: () => app.replay.value?.player.toggle() },
    },
    playIcon,
    playText,
  );
  const step = (by: number) => () => app.replay.value?.player.step(by);
  const speed = h("select", {
    "aria-label": t.replay.speed,
    title: t.replay.speed,
    "data-testid": "replay-speed",
    on: { change: () => app.replay.value && (app.replay.value.player.speed.value = Number(speed.value)) },
  });
  speed.append(...SPEEDS.map((factor) => new Option(t.replay.speedFactor(factor), String(factor))));
  const time = h("output", { class: "time", "data-testid": "replay-time" });
  const duration = h("span", { class: "rtf" });
  const gap = h("output", { "data-testid": "replay-gap" });
  const gapChip = h("p", { class: "gap-chip", title: t.replay.gap }, h("span", { class: "gap-label" }, t.replay.ghost), gap);
  // Screen readers announce the text of this element. It is written only when the time has changed
  // while the replay is paused. During playback, screen readers would announce the time
  // continuously.
  const announced = h("p", { class: "unseen", "aria-live": "polite", "data-testid": "replay-announced" });
  const result = h(
    "button",
    {
      type: "button",
      class: "tool",
      title: t.replay.resultTitleLong,
      "data-testid": "replay-result",
      on: { click: () => app.run.value && (app.run.value = { ...app.run.value, view: "result", time: null }) },
    },
    icon("history"),
    h("span", {}, t.replay.openResult),
  );
  const back = h(
    "button",
    {
      type: "button",
      class: "tool",
      title: t.replay.backTitle,
      "data-testid": "back-to-live",
      on: { click: () => (app.run.value = null) },
    },
    icon("undo"),
    h("span", {}, t.replay.backToLive),
  );
  const element = h(
    "footer",
    { class: "replay-bar", "aria-label": t.replay.bar, "data-testid": "replay-bar", hidden: true },
    h("div", { class: "timeline" }, marks, scrub),
    h(
      "div",
      { class: "replay-controls" },
      h(
        "div",
        { class: "group" },
        play,
        iconButton("frameBack", t.replay.previousFrame, step(-1), "frame-back"),
        iconButton("frameAhead", keyed(t.replay.nextFrame, "step"), step(1), "frame-ahead"),
        h("span", { class: "select" }, speed),
      ),
      h("div", { class: "times" }, time, duration),
      gapChip,
      h("span", { class: "spring" }),
      h("div", { class: "group" }, result, back),
    ),
    announced,
  );

  let stops: (() => void)[] = [];
  app.replay.watch((replay) => {
    for (const stop of stops) stop();
    stops = [];
    element.hidden = replay === null;
    if (!replay) return;
    const { player } = replay;
    setAttribute(scrub, "max", player.duration.toFixed(2));
    write(duration, t.replay.timeOf(preciseClock(player.duration)));
    fill(marks, ...mergeMarks(replay.marks, player.duration).map((mark) => markElement(mark, replay)));
    let announceTimer = 0;
    stops = [
      player.time.watch((now) => {
        const text = preciseClock(now);
        scrub.value = String(now);
        scrub.style.setProperty("--part", String(player.duration > 0 ? now / player.duration : 0));
        setAttribute(scrub, "aria-valuetext", t.replay.timelineValue(text, preciseClock(player.duration)));
        write(time, text);
        showGap(gapChip, gap, replay);
        clearTimeout(announceTimer);
        if (!player.playing.value)
          announceTimer = window.setTimeout(() => write(announced, t.replay.announce(text)), 400);
      }),
      player.playing.watch((playing) => {
        setIcon(playIcon, playing ? "pause" : "play");
        write(playText, playing ? t.replay.pause : t.replay.play);
        play.ariaPressed = String(playing);
      }),
      player.speed.watch((factor) => (speed.value = String(factor))),
      replay.ghost.watch(() => showGap(gapChip, gap, replay)),
      () => clearTimeout(announceTimer),
    ];
  });
  return element;
}

/** Shows how far the run is ahead of its ghost or behind it. */
function showGap(chip: HTMLElement, value: HTMLElement, replay: Replay): void {
  const gap = replay.gap(replay.now);
  chip.hidden = replay.ghost.value === null;
  setAttribute(value, "data-gap", gap === null ? "none" : gap > 0.005 ? "behind" : gap < -0.005 ? "ahead" : "even");
  write(value, gap === null ? t.replay.gapNone : t.replay.gapValue(signed(gap, 2)));
}

/** One mark per kind and place, with the texts of all merged marks. */
export function mergeMarks(marks: readonly Mark[], duration: number): (Mark & { texts: string[] })[] {
  const merged: (Mark & { texts: string[] })[] = [];
  const last = new Map<string, Mark & { texts: string[] }>();
  for (const mark of marks) {
    const key = `${mark.kind} ${mark.state ?? ""}`;
    const before = last.get(key);
    if (before && mark.time - before.time < MERGE_PART * duration) {
      before.duration = Math.max(before.duration, mark.time + mark.duration - before.time);
      before.texts.push(mark.text);
    } else {
      const one = { ...mark, texts: [mark.text] };
      last.set(key, one);
      merged.push(one);
    }
  }
  return merged;
}

/** A mark on the timeline. For keyboard users, the list of events contains the same marks. */
function markElement(mark: Mark & { texts: string[] }, replay: Replay): HTMLElement {
  const { duration } = replay.player;
  const part = (seconds: number) => (duration > 0 ? Math.min(1, seconds / duration) : 0).toFixed(5);
  const more = mark.texts.length - MAX_TEXTS;
  const texts = [...mark.texts.slice(0, MAX_TEXTS), ...(more > 0 ? [t.evaluation.moreCommands(more)] : [])];
  const kind: MarkKind = mark.kind;
  return h("button", {
    type: "button",
    tabindex: -1,
    class: `moment moment-${kind}`,
    "data-state": mark.state,
    "data-kind": kind,
    title: t.replay.markTime(preciseClock(mark.time), texts.join("\n")),
    style: `--at: ${part(mark.time)}; --span: ${part(mark.duration)}`,
    on: { click: () => replay.player.seek(mark.time) },
  });
}
