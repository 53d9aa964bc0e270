/** Undo and redo of the moves made in this page. A whole drag counts as one move. */

/** Pose of an upright object: position in metres, yaw in radians. */
export interface UprightPose {
  x: number;
  y: number;
  z: number;
  yaw: number;
}

export interface Move {
  name: string;
  before: UprightPose;
  after: UprightPose;
}

/** Largest number of moves that can be undone. Older moves are dropped. */
const MAX_MOVES = 100;

export class History {
  #done: Move[] = [];
  #undone: Move[] = [];

  add(move: Move): void {
    if (isSame(move.before, move.after)) return;
    this.#done.push(move);
    if (this.#done.length > MAX_MOVES) this.#done.shift();
    this.#undone = [];
  }

  /** Takes the last move off the undo list; the caller moves the object back to `before`. */
  undo(): Move | null {
    const move = this.#done.pop() ?? null;
    if (move) this.#undone.push(move);
    return move;
  }

  /** Takes the last undone move off the redo list; the caller moves the object to `after`. */
  redo(): Move | null {
    const move = this.#undone.pop() ?? null;
    if (move) this.#done.push(move);
    return move;
  }

  /** Removes all moves. A new world has other objects, so old moves can't be undone in it. */
  clear(): void {
    this.#done = [];
    this.#undone = [];
  }
}

function isSame(a: UprightPose, b: UprightPose): boolean {
  return Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z) < 1e-4 && Math.abs(a.yaw - b.yaw) < 1e-4;
}
