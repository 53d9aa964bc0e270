/** A map of a run: the road, the driven line coloured by speed, and numbered penalties. */
import type { RunTracks } from "../net/tracks.ts";
import { colouredLine, type SpeedScale } from "../replay/speed-colours.ts";
import { t } from "../strings.ts";
import type { RouteLines } from "../wire/sim.ts";
import { s } from "./svg.ts";

/** Width of the road if the route has no borders, in metres. */
const ROAD_M = 0.5;
/** Margin around the road and the line, in metres. */
const MARGIN_M = 0.3;

type Point = readonly number[];

/** A rectangle in metres. */
interface Extent {
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
}

export interface MapPenalty {
  x: number;
  y: number;
  text: string;
}

export function trackMap(options: {
  route: RouteLines | null;
  tracks: RunTracks;
  scale: SpeedScale;
  penalties: readonly MapPenalty[];
}): SVGSVGElement {
  const { route, tracks, scale, penalties } = options;
  const extent = extentOf(route, tracks);
  const [width, height] = [extent.maxX - extent.minX, extent.maxY - extent.minY];
  /** A length on the map that looks the same for all sizes of worlds. */
  const unit = Math.max(width, height) / 100;
  const line = colouredLine(tracks.car, tracks.jumps, scale).map((part) =>
    s("path", { d: path(part.points), stroke: part.colour }),
  );
  const { x, y } = tracks.car;
  const last = x.length - 1;
  const svg = s(
    "svg",
    {
      // The y axis of the world points up, and the y axis of an image points down.
      viewBox: `${extent.minX} ${-extent.maxY} ${width} ${height}`,
      class: "track-map",
      role: "img",
      "aria-label": t.replay.mapLabel,
      "data-testid": "track-map",
    },
    s("g", { class: "map-road", "stroke-width": 0.35 * unit }, ...road(route)),
    s("g", { class: "map-casing", "stroke-width": 1.9 * unit }, ...casing(line)),
    s("g", { class: "map-line", "stroke-width": 1.15 * unit }, ...line),
    // A lap ends near its start, so the mark of the start is larger than the mark of the end.
    spot("map-start", x[0], y[0], 1.7 * unit, t.replay.start),
    spot("map-end", x[last], y[last], 1.1 * unit, t.replay.end),
    ...penalties.map((penalty, i) => pin(penalty, i + 1, unit)),
  );
  return svg as SVGSVGElement;
}

/** Index of the sample that is nearest to a position on the page; null if the map is not shown. */
export function sampleAt(svg: SVGSVGElement, { car }: RunTracks, clientX: number, clientY: number): number | null {
  const matrix = svg.getScreenCTM();
  if (!matrix) return null;
  const at = new DOMPoint(clientX, clientY).matrixTransform(matrix.inverse());
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < car.time.length; i++) {
    const square = (car.x[i] - at.x) ** 2 + (car.y[i] + at.y) ** 2;
    if (square < least) [best, least] = [i, square];
  }
  return best;
}

/** A path through points of the world. */
function path(points: readonly Point[]): string {
  return points.map(([x, y], i) => `${i === 0 ? "M" : "L"}${x.toFixed(3)} ${(-y).toFixed(3)}`).join("");
}

/** The line below the coloured line, which separates it from the road. */
function casing(line: readonly SVGElement[]): SVGElement[] {
  return line.map((part) => s("path", { d: part.getAttribute("d") ?? "" }));
}

function road(route: RouteLines | null): SVGElement[] {
  if (!route) return [];
  const { inner, outer, waypoints, closed } = route;
  // The last point of every line only closes the list of points.
  const open = <T>(points: readonly T[]) => (closed ? points : points.slice(0, -1));
  if (!inner || !outer) {
    const d = path(open(waypoints)) + (closed ? "Z" : "");
    return [s("path", { d, class: "map-centre-road", "stroke-width": ROAD_M })];
  }
  const surface = closed ? `${path(outer)}Z${path(inner)}Z` : `${path([...open(outer), ...open(inner).toReversed()])}Z`;
  return [
    s("path", { d: surface, class: "map-asphalt", "fill-rule": "evenodd" }),
    s("path", { d: path(open(waypoints)), class: "map-centre" }),
    s("path", { d: path([outer[0], inner[0]]), class: "map-start-line", "stroke-width": 0.07 }),
  ];
}

function spot(name: string, x: number, y: number, radius: number, text: string): SVGElement {
  return s("circle", { class: name, cx: x, cy: -y, r: radius, "stroke-width": 0.35 * radius }, s("title", {}, text));
}

function pin({ x, y, text }: MapPenalty, number: number, unit: number): SVGElement {
  return s(
    "g",
    { class: "map-penalty", transform: `translate(${x.toFixed(3)} ${(-y).toFixed(3)})` },
    s("circle", { r: 2.4 * unit, "stroke-width": 0.45 * unit }),
    s("text", { "font-size": 3 * unit, dy: 1.08 * unit }, String(number)),
    s("title", {}, text),
  );
}

function extentOf(route: RouteLines | null, { car }: RunTracks): Extent {
  const extent = { minX: Infinity, minY: Infinity, maxX: -Infinity, maxY: -Infinity };
  const include = (x: number, y: number) => {
    extent.minX = Math.min(extent.minX, x - MARGIN_M);
    extent.minY = Math.min(extent.minY, y - MARGIN_M);
    extent.maxX = Math.max(extent.maxX, x + MARGIN_M);
    extent.maxY = Math.max(extent.maxY, y + MARGIN_M);
  };
  for (const line of [route?.waypoints, route?.outer, route?.inner])
    for (const [x, y] of line ?? []) include(x, y);
  for (let i = 0; i < car.x.length; i++) include(car.x[i], car.y[i]);
  return extent;
}
