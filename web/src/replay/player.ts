/** The clock of a replay: current time, play and pause, speed. */
import { Signal } from "../ui/signal.ts";

/** Playing speeds to choose from. */
export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
/** Time between two samples of a run. `step` moves by this time. */
export const FRAME_S = 0.02;

export class Player {
  /** Current moment, in simulated seconds since the start of the run. */
  readonly time = new Signal(0);
  readonly playing = new Signal(false);
  /** Simulated seconds per real second. */
  readonly speed = new Signal(1);

  constructor(readonly duration: number) {}

  /** Advances by real seconds if the replay is playing. Stops at the end. */
  advance(seconds: number): void {
    if (!this.playing.value) return;
    this.time.value = this.#clamp(this.time.value + seconds * this.speed.value);
    if (this.time.value >= this.duration) this.playing.value = false;
  }

  /** Plays or pauses. At the end, plays again from the start. */
  toggle(): void {
    if (!this.playing.value && this.time.value >= this.duration) this.time.value = 0;
    this.playing.value = !this.playing.value;
  }

  seek(time: number): void {
    this.time.value = this.#clamp(time);
  }

  /** Pauses and moves by a number of frames to a whole frame. */
  step(frames: number): void {
    this.playing.value = false;
    // The small number corrects rounding: a time just below a frame counts as that frame.
    const frame = Math.floor(this.time.value / FRAME_S + 1e-6) + frames;
    this.seek(frame * FRAME_S);
  }

  #clamp(time: number): number {
    return Math.min(this.duration, Math.max(0, time));
  }
}
