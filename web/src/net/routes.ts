/** Length and bends of the route of a world, from its waypoints file. */
import { getBytes } from "./api.ts";

/**
 * Largest waypoints file that the page reads, in bytes: a header and 200,000 rows, which is the
 * limit of the server.
 */
const MAX_BYTES = 200_000 * 6 * 8 + 4096;
/** Distance between the points at which the direction of the road is measured, in metres. */
const STEP_M = 0.1;
/** Number of steps over which a change of direction is measured, because routes are not smooth. */
const WINDOW = 3;
/**
 * Mean change of direction, in degrees per metre, up to which a road counts as easy or as medium.
 */
const EASY_DEG_PER_M = 22;
const MEDIUM_DEG_PER_M = 35;

export type Difficulty = "easy" | "medium" | "hard";

export interface RouteFacts {
  /** Length of the centre line, in metres. */
  length: number;
  /** Mean change of direction, in degrees per metre. */
  turning: number;
  /** Smallest radius of a bend, in metres; infinite for a straight road. */
  radius: number;
  difficulty: Difficulty;
}

type Point = readonly [number, number];

/**
 * Fetches the route of a world and returns its facts. Throws if the world has no route. Returns
 * null if the route is too short.
 */
export async function fetchRouteFacts(world: string): Promise<RouteFacts | null> {
  const bytes = await getBytes(`/worlds/${encodeURIComponent(world)}/waypoints.npy`, MAX_BYTES);
  return routeFacts(parseWaypoints(bytes));
}

/**
 * Reads the centre line of a waypoints file: a NumPy file of version 1 with little-endian doubles
 * in C order, as the server writes it. The first two columns are x and y.
 */
export function parseWaypoints(bytes: ArrayBuffer): Point[] {
  const view = new DataView(bytes);
  const isNumPy = bytes.byteLength > 10 && view.getUint32(0) === 0x934e554d && view.getUint16(4) === 0x5059;
  if (!isNumPy) throw new RangeError("not a NumPy file");
  const start = 10 + view.getUint16(8, true);
  const header = new TextDecoder("latin1").decode(bytes.slice(10, start));
  const shape = /'shape': \((\d+), (\d+)\)/.exec(header);
  if (!header.includes("'<f8'") || header.includes("'fortran_order': True") || !shape)
    throw new RangeError("not an array of waypoints");
  const [rows, columns] = [Number(shape[1]), Number(shape[2])];
  if (columns < 2 || start + rows * columns * 8 > bytes.byteLength) throw new RangeError("an incomplete file");
  return Array.from({ length: rows }, (_, row): Point => {
    const at = start + row * columns * 8;
    return [view.getFloat64(at, true), view.getFloat64(at + 8, true)];
  });
}

/** Length and bends of a centre line; null if it is too short to measure a change of direction. */
export function routeFacts(points: readonly Point[]): RouteFacts | null {
  const distances = [0];
  for (let i = 1; i < points.length; i++)
    distances.push(distances[i - 1] + Math.hypot(points[i][0] - points[i - 1][0], points[i][1] - points[i - 1][1]));
  const length = distances.at(-1) ?? 0;
  if (!(length > 2 * WINDOW * STEP_M)) return null;
  const isLoop = Math.hypot(points[0][0] - points[points.length - 1][0], points[0][1] - points[points.length - 1][1]) < STEP_M;
  const line = resample(points, distances, length);
  let [sum, most, count] = [0, 0, 0];
  for (let i = isLoop ? 0 : WINDOW; i < line.length - (isLoop ? 0 : WINDOW); i++) {
    const at = (k: number) => line[(k + line.length) % line.length];
    const [a, b, c] = [at(i - WINDOW), at(i), at(i + WINDOW)];
    const turn = Math.atan2(c[1] - b[1], c[0] - b[0]) - Math.atan2(b[1] - a[1], b[0] - a[0]);
    const perMetre = Math.abs(Math.atan2(Math.sin(turn), Math.cos(turn))) / (WINDOW * (length / line.length));
    sum += perMetre;
    most = Math.max(most, perMetre);
    count++;
  }
  const turning = ((sum / Math.max(1, count)) * 180) / Math.PI;
  const difficulty = turning <= EASY_DEG_PER_M ? "easy" : turning <= MEDIUM_DEG_PER_M ? "medium" : "hard";
  return { length, turning, radius: most > 1e-6 ? 1 / most : Number.POSITIVE_INFINITY, difficulty };
}

/** Points on a line at equal distances of about `STEP_M`. */
function resample(points: readonly Point[], distances: readonly number[], length: number): Point[] {
  const count = Math.max(2 * WINDOW + 1, Math.round(length / STEP_M));
  let i = 0;
  return Array.from({ length: count }, (_, k): Point => {
    const far = (k * length) / count;
    while (distances[i + 1] < far) i++;
    const part = (far - distances[i]) / Math.max(1e-9, distances[i + 1] - distances[i]);
    const [a, b] = [points[i], points[i + 1]];
    return [a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])];
  });
}
