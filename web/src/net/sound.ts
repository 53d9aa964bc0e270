/**
 * Plays the robot's sounds: files as they are served, samples as they come. Browsers want a click first, so it
 * begins with the button. The event stream tells everything; whoever connects starts anew.
 */
import type { SoundBegun, SoundSamples } from "../wire/robot.ts";

const EVENTS = "/audio/events";
const RETRY_MS = 2000;
const LAST_MOMENT_MS = 500;
/** A file that begins this late starts in the middle. */
const LATE_S = 0.25;
/** Samples begin this late, so that those that come late are still in time. */
const JITTER_S = 0.15;
/** Samples that come faster than they are played are left out. */
const MAX_AHEAD_S = 4;

interface Sound {
  volume(value: number): void;
  pause(paused: boolean): void;
  feed(samples: SoundSamples): void;
  stop(): void;
}

/** A file. */
class FileSound implements Sound {
  #element: HTMLAudioElement | null;
  #source = "";
  readonly #begun: number;

  constructor(
    { url, volume, loop, position }: SoundBegun & { url?: string | null },
    readonly isPaused: () => boolean,
  ) {
    this.#element = Object.assign(new Audio(), { volume, loop });
    this.#begun = performance.now() / 1000 - position;
    if (url) void this.#load(url);
  }

  /** As a whole, so that it can start in the middle. */
  async #load(url: string): Promise<void> {
    const answer = await fetch(url).catch(() => null);
    const blob = answer?.ok ? await answer.blob() : null;
    const element = this.#element;
    if (!blob || !element) return;
    this.#source = URL.createObjectURL(blob);
    element.src = this.#source;
    element.onloadedmetadata = () => {
      const late = performance.now() / 1000 - this.#begun;
      if (late > LATE_S) element.currentTime = element.loop ? late % element.duration : Math.min(late, element.duration);
      this.pause(this.isPaused());
    };
  }

  volume(value: number): void {
    if (this.#element) this.#element.volume = value;
  }

  pause(paused: boolean): void {
    if (paused) this.#element?.pause();
    else if (this.#source) void this.#element?.play().catch(() => {});
  }

  feed(): void {}

  stop(): void {
    this.#element?.pause();
    this.#element?.removeAttribute("src");
    this.#element = null;
    if (this.#source) URL.revokeObjectURL(this.#source);
  }
}

/** Samples, one piece after the other. They stop with the context. */
class StreamSound implements Sound {
  readonly #gain: GainNode;
  /** When the next piece begins. */
  #next = 0;

  constructor(
    readonly context: AudioContext,
    volume: number,
  ) {
    this.#gain = new GainNode(context, { gain: volume });
    this.#gain.connect(context.destination);
  }

  feed({ sample_rate, channels, data }: SoundSamples): void {
    const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
    const samples = new DataView(bytes.buffer);
    const frames = Math.floor(bytes.length / 2 / channels);
    const { context } = this;
    if (frames === 0 || this.#next - context.currentTime > MAX_AHEAD_S) return;
    const buffer = context.createBuffer(channels, frames, sample_rate);
    for (let c = 0; c < channels; c++) {
      const channel = buffer.getChannelData(c);
      for (let i = 0; i < frames; i++) channel[i] = samples.getInt16(2 * (i * channels + c), true) / 32768;
    }
    const piece = new AudioBufferSourceNode(context, { buffer });
    piece.connect(this.#gain);
    // After a gap there is time again for what comes late.
    if (this.#next < context.currentTime) this.#next = context.currentTime + JITTER_S;
    piece.start(this.#next);
    this.#next += buffer.duration;
  }

  volume(value: number): void {
    this.#gain.gain.value = value;
  }

  pause(): void {}

  stop(): void {
    this.#gain.disconnect();
  }
}

/** Everything that plays. */
export class Speaker {
  readonly #sounds = new Map<string, Sound>();
  #context: AudioContext | null = null;
  #events: EventSource | null = null;
  #paused = false;
  #timer = 0;

  /** What plays, for those who ask. */
  get playing(): number {
    return this.#sounds.size;
  }

  /** Sounds stand still with the time they go by. */
  pause(paused: boolean): void {
    if (paused === this.#paused) return;
    this.#paused = paused;
    for (const sound of this.#sounds.values()) sound.pause(paused);
    void (paused ? this.#context?.suspend() : this.#context?.resume());
  }

  turn(on: boolean): void {
    clearTimeout(this.#timer);
    this.#events?.close();
    this.#events = null;
    this.#silence();
    if (on) {
      this.#context ??= new AudioContext();
      void (this.#paused ? this.#context.suspend() : this.#context.resume());
      this.#connect(this.#context);
    } else {
      void this.#context?.suspend();
    }
  }

  #connect(context: AudioContext): void {
    const stream = new EventSource(EVENTS);
    this.#events = stream;
    const on = <T>(name: string, act: (data: T) => void) =>
      stream.addEventListener(name, (event: MessageEvent<string>) => {
        if (stream === this.#events) act(JSON.parse(event.data) as T);
      });
    stream.addEventListener("open", () => this.#silence());
    on<SoundBegun>("play", (sound) => {
      this.#remove(sound.id);
      const made = sound.kind === "file" ? new FileSound(sound, () => this.#paused) : new StreamSound(context, sound.volume);
      this.#sounds.set(sound.id, made);
    });
    on<SoundSamples>("pcm", (samples) => this.#sounds.get(samples.id)?.feed(samples));
    on<{ id: string; volume: number }>("volume", ({ id, volume }) => this.#sounds.get(id)?.volume(volume));
    on<{ id: string }>("stop", ({ id }) => this.#remove(id));
    on("stop_all", () => this.#silence());
    on<{ id: string }>("ended", ({ id }) => {
      const sound = this.#sounds.get(id);
      this.#sounds.delete(id);
      // The page may be a moment behind.
      setTimeout(() => sound?.stop(), LAST_MOMENT_MS);
    });
    stream.addEventListener("error", () => {
      this.#silence();
      // After an error status the browser does not try again by itself.
      if (stream.readyState === EventSource.CLOSED && stream === this.#events) {
        this.#timer = window.setTimeout(() => this.#connect(context), RETRY_MS);
      }
    });
  }

  #remove(id: string): void {
    this.#sounds.get(id)?.stop();
    this.#sounds.delete(id);
  }

  #silence(): void {
    for (const id of [...this.#sounds.keys()]) this.#remove(id);
  }
}
