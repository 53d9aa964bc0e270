/** Distances along the centre line of a road in a preview. */
import type { Road } from "./client.ts";
import type { LinePlace, Point } from "./geometry.ts";

/** The distance of each sample along the centre line, by the centre line. */
const known = new WeakMap<Road["centre"], Float64Array>();

/**
 * The distance of each sample from the first one along the centre line, in metres. On a closed road,
 * the last element is the length of the lap. The server spaces the samples before the start line
 * differently from those after it, so a distance cannot be computed from the number of a sample.
 */
function distancesOf(road: Road): Float64Array {
  const { centre } = road;
  let distances = known.get(centre);
  if (!distances) {
    const steps = road.closed ? centre.length : centre.length - 1;
    distances = new Float64Array(steps + 1);
    for (let i = 0; i < steps; i++) {
      const [[ax, ay], [bx, by]] = [centre[i], centre[(i + 1) % centre.length]];
      distances[i + 1] = distances[i] + Math.hypot(bx - ax, by - ay);
    }
    // Chords are a little shorter than the curve.
    const scale = road.length / Math.max(1e-9, distances[steps]);
    for (let i = 0; i <= steps; i++) distances[i] *= scale;
    known.set(centre, distances);
  }
  return distances;
}

/** Distance of a place along the centre line of a preview, in metres. */
export function alongOf(road: Road, place: LinePlace): number {
  const distances = distancesOf(road);
  const index = Math.min(Math.floor(place.at), distances.length - 1);
  const next = Math.min(index + 1, distances.length - 1);
  return distances[index] + (place.at - index) * (distances[next] - distances[index]);
}

/** The point at a distance along the centre line of a preview. */
export function pointAlong(road: Road, along: number): Point {
  const { centre } = road;
  const distances = distancesOf(road);
  const after = distances.findIndex((distance) => distance > along);
  const next = after < 0 ? distances.length - 1 : after;
  const index = Math.max(0, next - 1);
  const [ax, ay] = centre[index];
  const [bx, by] = centre[next % centre.length];
  const part = (along - distances[index]) / Math.max(1e-9, distances[next] - distances[index]);
  const t = Math.min(Math.max(0, part), 1);
  return { x: ax + t * (bx - ax), y: ay + t * (by - ay) };
}
