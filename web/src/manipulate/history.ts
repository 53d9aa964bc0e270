/** What people did with their hands, and back. A drag is one step, however many poses it went through. */

export interface Place {
  x: number;
  y: number;
  z: number;
  yaw: number;
}

export interface Move {
  name: string;
  before: Place;
  after: Place;
}

const KEPT = 100;

export class History {
  #done: Move[] = [];
  #undone: Move[] = [];

  add(move: Move): void {
    if (isSame(move.before, move.after)) return;
    this.#done.push(move);
    if (this.#done.length > KEPT) this.#done.shift();
    this.#undone = [];
  }

  /** The last move, to be put back. */
  undo(): Move | null {
    const move = this.#done.pop() ?? null;
    if (move) this.#undone.push(move);
    return move;
  }

  /** The move that was put back last, to be made again. */
  redo(): Move | null {
    const move = this.#undone.pop() ?? null;
    if (move) this.#done.push(move);
    return move;
  }

  /** Another world has other things. */
  clear(): void {
    this.#done = [];
    this.#undone = [];
  }
}

function isSame(a: Place, b: Place): boolean {
  return Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z) < 1e-4 && Math.abs(a.yaw - b.yaw) < 1e-4;
}
