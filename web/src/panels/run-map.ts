/** The map of a run on its result page: the driven line coloured by speed, with a legend. */
import type { RunTracks } from "../net/tracks.ts";
import type { Penalty } from "../replay/marks.ts";
import { speedColour, speedScale, type SpeedScale } from "../replay/speed-colours.ts";
import { RunPoses } from "../scene/run-poses.ts";
import { t } from "../strings.ts";
import { h, write } from "../ui/dom.ts";
import { preciseClock, speedText } from "../ui/format.ts";
import { sampleAt, trackMap } from "../ui/track-map.ts";
import type { RouteLines } from "../wire/sim.ts";

export function mapSection(
  tracks: RunTracks,
  route: RouteLines | null,
  penalties: readonly Penalty[],
  openAt: (time: number) => void,
): HTMLElement {
  const poses = new RunPoses(tracks);
  const scale = speedScale(tracks.car.speed);
  const svg = trackMap({
    route,
    tracks,
    scale,
    penalties: penalties.map(({ time, text }) => ({ ...placeBefore(poses, time), text })),
  });
  const readout = h("output", { class: "map-readout", "data-testid": "map-readout" }, t.replay.mapHint);
  svg.addEventListener("pointermove", (event) => {
    const i = sampleAt(svg, tracks, event.clientX, event.clientY);
    if (i === null) return;
    const speed = speedText(tracks.car.speed[i], 2);
    write(readout, t.replay.markTime(preciseClock(tracks.car.time[i]), speed));
  });
  svg.addEventListener("pointerleave", () => write(readout, t.replay.mapHint));
  svg.addEventListener("click", (event) => {
    const i = sampleAt(svg, tracks, event.clientX, event.clientY);
    if (i !== null) openAt(tracks.car.time[i]);
  });
  return h(
    "section",
    { class: "run-panel run-map", "data-testid": "run-map" },
    h("div", { class: "run-map-head" }, h("h3", {}, t.replay.map), legend(scale)),
    h("div", { class: "map-box" }, svg),
    h("p", { class: "hint" }, readout),
  );
}

/**
 * The place of the car at a penalty. The script may put the car back at the same time, so the place
 * just before that time is used.
 */
function placeBefore(poses: RunPoses, time: number): { x: number; y: number } {
  const { jumps } = poses.tracks;
  const jump = jumps.find((one) => one >= time - 0.05 && one <= time + 0.05);
  const { x, y } = poses.car(Math.max(0, jump === undefined ? time : Math.min(time, jump) - 0.021));
  return { x, y };
}

/** The legend: the colours of the line with their speeds. */
function legend({ low, high }: SpeedScale): HTMLElement {
  const stops = Array.from({ length: 9 }, (_, i) => speedColour(i / 8)).join(", ");
  return h(
    "p",
    { class: "map-legend" },
    h("span", {}, speedText(low, 1)),
    h("span", {
      class: "map-scale",
      style: `background: linear-gradient(90deg, ${stops})`,
      role: "img",
      "aria-label": t.replay.scale,
    }),
    h("span", {}, speedText(high, 1)),
  );
}
