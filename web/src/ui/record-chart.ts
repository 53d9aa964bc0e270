/** A chart of records over time, with axes and a line of the best record so far. */
import { t } from "../strings.ts";
import type { Better } from "../wire/sim.ts";
import { record } from "./format.ts";
import { s } from "./svg.ts";

export interface RecordPoint {
  value: number;
  /** Displayed time of the run. */
  time: string;
}

const [WIDTH, HEIGHT] = [296, 136];
/** Distances between the edges of the chart and its axes. */
const [LEFT, RIGHT, TOP, BOTTOM] = [54, 14, 14, 26];

/** Plots records, the oldest at the left. Null if there are none. */
export function recordChart(points: readonly RecordPoint[], better: Better, unit: string): SVGSVGElement | null {
  if (points.length === 0) return null;
  const values = points.map((point) => point.value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const [right, bottom] = [WIDTH - RIGHT, HEIGHT - BOTTOM];
  const x = (i: number) => (points.length === 1 ? (LEFT + right) / 2 : LEFT + 8 + (i / (points.length - 1)) * (right - LEFT - 8));
  const y = (value: number) => bottom - 8 - (high === low ? 0.5 : (value - low) / (high - low)) * (bottom - 8 - TOP);
  const svg = s("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    class: "chart",
    role: "img",
    "aria-label": t.evaluation.historyPlot,
  });
  const text = (value: number) => [record(Number(value.toFixed(2))), unit].filter(Boolean).join(" ");
  const label = (content: string, at: { x: number; y: number }, anchor: string) =>
    s("text", { ...at, "text-anchor": anchor, class: "chart-label" }, content);
  svg.append(s("path", { d: `M${LEFT} ${TOP - 6}V${bottom}H${right}`, class: "chart-axis" }));
  for (const value of high === low ? [high] : [high, low]) {
    svg.append(
      s("path", { d: `M${LEFT - 4} ${y(value)}H${LEFT}`, class: "chart-axis" }),
      label(text(value), { x: LEFT - 7, y: y(value) + 3.5 }, "end"),
    );
  }
  const last = points.length - 1;
  svg.append(label(points[0].time, { x: last === 0 ? x(0) : LEFT, y: HEIGHT - 9 }, last === 0 ? "middle" : "start"));
  if (last > 0) svg.append(label(points[last].time, { x: right, y: HEIGHT - 9 }, "end"));

  let best = values[0];
  let path = `M${x(0)} ${y(best)}`;
  values.forEach((value, i) => {
    if (i === 0) return;
    path += `H${x(i)}`;
    if (better === "higher" ? value > best : value < best) {
      best = value;
      path += `V${y(best)}`;
    }
  });
  svg.append(s("path", { d: path, class: "best" }));
  points.forEach((point, i) => {
    const dot = s("circle", {
      cx: x(i),
      cy: y(point.value),
      r: point.value === best ? 4.5 : 3,
      class: point.value === best ? "dot dot-best" : "dot",
    });
    dot.append(s("title", {}, t.evaluation.historyPoint(text(point.value), point.time)));
    svg.append(dot);
  });
  return svg as SVGSVGElement;
}
