/**
 * The changes that a user can make to the track. The server computes the curve itself, so these
 * functions use the lines of its preview.
 */
import type { Road } from "./client.ts";
import {
  isBackward,
  isClosed,
  leastNodes,
  MAX_NODES,
  round,
  widthAt,
  type ProjectDocument,
  type Track,
  type TrackNode,
} from "./document.ts";
import { modulo, nearestOnLine, type LinePlace, type Point } from "./geometry.ts";

/**
 * A new node at the end of an open line has at least this distance from the node before it, unless
 * the last segment is shorter.
 */
const LEAST_STEP_M = 0.2;

/** The place of the centre line that is nearest to a point. */
export function placeOnRoad(road: Road, point: Point): LinePlace | null {
  return nearestOnLine(road.centre, road.closed, point);
}

/**
 * Index at which a new node has to be inserted so that the line passes through it at the distance
 * `along`.
 */
export function insertIndex(track: Track, road: Road, along: number): number {
  const count = track.nodes.length;
  const segments = isClosed(track) ? count : count - 1;
  for (let i = 0; i < segments; i++) {
    const [own, next] = [road.nodes_s[i], road.nodes_s[(i + 1) % count]];
    const [from, to] = isBackward(track) ? [next, own] : [own, next];
    const [length, before] = road.closed
      ? [modulo(to - from, road.length), modulo(along - from, road.length)]
      : [to - from, along - from];
    if (before >= 0 && before <= length) return i + 1;
  }
  return count;
}

/**
 * The place of a new node after the node `index`: halfway to the next node. A node after the last
 * one of an open line continues the last segment by its length, or until the road reaches the edge
 * of the field.
 */
export function placeAfter({ field, track }: ProjectDocument, index: number): Point {
  const { nodes } = track;
  const node = nodes[index];
  if (index + 1 < nodes.length || isClosed(track)) {
    const next = nodes[(index + 1) % nodes.length];
    return { x: (node.x + next.x) / 2, y: (node.y + next.y) / 2 };
  }
  const before = nodes[index - 1] ?? node;
  const step = { x: node.x - before.x, y: node.y - before.y };
  const margin = widthAt(track, node) / 2;
  // The fraction of the step after which the road reaches the edge of the field.
  const room = (at: number, by: number, size: number) =>
    by === 0 ? Infinity : ((by > 0 ? size - margin : margin) - at) / by;
  const inside = Math.min(room(node.x, step.x, field.size[0]), room(node.y, step.y, field.size[1]));
  const least = LEAST_STEP_M / Math.hypot(step.x, step.y);
  const part = Math.min(1, Math.max(inside, least));
  return { x: node.x + part * step.x, y: node.y + part * step.y };
}

/** Inserts a node. Returns its index; null if the track already has the maximum number of nodes. */
export function insertNode(draft: ProjectDocument, index: number, { x, y }: Point): number | null {
  const { nodes } = draft.track;
  if (nodes.length >= MAX_NODES) return null;
  nodes.splice(index, 0, { x: round(x), y: round(y) });
  return index;
}

/** Replaces the line by new nodes. Returns false if there are too few points. */
export function drawTrack(draft: ProjectDocument, points: readonly Point[], closed: boolean): boolean {
  if (points.length < leastNodes(closed)) return false;
  draft.track.nodes = points.slice(0, MAX_NODES).map(({ x, y }) => ({ x: round(x), y: round(y) }));
  draft.track.closed = closed;
  draft.track.direction = "forward";
  draft.track.start = 0;
  return true;
}

/** Opens or closes the line. A line of two nodes gets a third one beside it when it is closed. */
export function setClosed(draft: ProjectDocument, closed: boolean): void {
  const { nodes } = draft.track;
  if (closed && nodes.length < leastNodes(true)) {
    const [a, b] = nodes;
    nodes.push({ x: round((a.x + b.x) / 2 - (b.y - a.y) / 2), y: round((a.y + b.y) / 2 + (b.x - a.x) / 2) });
  }
  draft.track.closed = closed;
}

/** Reverses the direction of travel. If `road` is given, the start line stays where it is. */
export function reverseTrack(draft: ProjectDocument, road: Road | null): void {
  const { track } = draft;
  track.direction = isBackward(track) ? "forward" : "backward";
  if (!road) return;
  const start = track.start ?? 0;
  track.start = round(road.closed ? modulo(road.length - start, road.length) : Math.max(0, road.length - start));
}

/** Moves the start line to a distance along the line of the preview. */
export function moveStart(draft: ProjectDocument, road: Road, along: number): void {
  const { track } = draft;
  // The position of the start line is measured from the first node in the direction of travel.
  const first = !road.closed && isBackward(track) ? road.nodes_s.length - 1 : 0;
  const from = along - (road.nodes_s[first] ?? 0);
  const start = road.closed ? modulo(from, road.length) : Math.min(road.length, Math.max(0, from));
  track.start = round(Math.min(10_000, start));
}

/** Sets the width of the road at a node. With `null` the node uses the width of the track. */
export function setNodeWidth(draft: ProjectDocument, index: number, width: number | null): void {
  const node = draft.track.nodes[index];
  if (!node) return;
  if (width === null) delete node.width;
  else node.width = round(Math.min(5, Math.max(0.2, width)));
}

/** The nodes that have a width of their own. */
export function nodesWithWidth(track: Track): TrackNode[] {
  return track.nodes.filter((node) => node.width !== null && node.width !== undefined && widthAt(track, node) > 0);
}
