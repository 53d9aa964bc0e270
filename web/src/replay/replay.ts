/** A loaded run with its clock and its ghost: all data that the replay shows. */
import type { EvaluationRecord } from "../net/session.ts";
import type { RunTracks } from "../net/tracks.ts";
import { RunPoses } from "../scene/run-poses.ts";
import type { ReplayScene } from "../scene/scene-view.ts";
import { Signal } from "../ui/signal.ts";
import { gapAt, Progress, type LapRoute } from "./laps.ts";
import { marksOf, type Mark } from "./marks.ts";
import { Player } from "./player.ts";

/** A second run that is shown together with the replayed run. */
export class Ghost {
  readonly poses: RunPoses;
  readonly progress: Progress | null;
  /**
   * Time of the ghost minus time of the replayed run, chosen so that both cars start to move at the
   * same moment. It is 0 without a route.
   */
  readonly offset: number;

  constructor(
    readonly record: EvaluationRecord,
    tracks: RunTracks,
    route: LapRoute | null,
    runStart: number | null,
  ) {
    this.poses = new RunPoses(tracks);
    this.progress = route && new Progress(tracks.car, route);
    this.offset = (this.progress?.start ?? 0) - (this.progress ? (runStart ?? 0) : 0);
  }

  /** The time of the ghost at a time of the replayed run. */
  timeAt(time: number): number {
    return Math.min(this.poses.tracks.duration, Math.max(0, time + this.offset));
  }
}

export class Replay implements ReplayScene {
  readonly poses: RunPoses;
  readonly player: Player;
  readonly progress: Progress | null;
  readonly marks: readonly Mark[];
  readonly ghost = new Signal<Ghost | null>(null);

  constructor(
    readonly record: EvaluationRecord,
    readonly tracks: RunTracks,
    readonly route: LapRoute | null,
  ) {
    this.poses = new RunPoses(tracks);
    this.player = new Player(tracks.duration);
    this.progress = route && new Progress(tracks.car, route);
    this.marks = marksOf(record.events ?? [], tracks, record.better);
  }

  get session(): string {
    return this.record.session;
  }

  get now(): number {
    return this.player.time.value;
  }

  get ghostNow(): ReplayScene["ghostNow"] {
    const ghost = this.ghost.value;
    return ghost && { poses: ghost.poses, now: ghost.timeAt(this.now) };
  }

  advance(seconds: number): void {
    this.player.advance(seconds);
  }

  /** Shows a ghost; null removes it. */
  setGhost(record: EvaluationRecord | null, tracks: RunTracks | null): void {
    this.ghost.value =
      record && tracks ? new Ghost(record, tracks, this.route, this.progress?.start ?? null) : null;
  }

  /** How many seconds the run is behind the ghost at a time; null if they can't be compared. */
  gap(time: number): number | null {
    const other = this.ghost.value?.progress;
    return this.progress && other ? gapAt(this.progress, other, time) : null;
  }

  /**
   * The time at which the ghost was where the run is at `time`; null if the ghost never was there.
   * Without a route, places can't be compared, so the result is the time of the ghost at `time`.
   */
  ghostTimeAtPlace(time: number): number | null {
    const ghost = this.ghost.value;
    if (!ghost) return null;
    if (!this.progress || !ghost.progress) return ghost.timeAt(time);
    return ghost.progress.timeAt(this.progress.at(time));
  }
}
