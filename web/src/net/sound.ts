/**
 * Plays the robot's sounds: audio files by URL, and streamed samples.
 *
 * The page is silent until the user turns the sound on, because browsers forbid sound before a user
 * action. The event stream begins with all sounds that play now, so the list of sounds is cleared
 * on every connection.
 */
import type { SoundBegun, SoundSamples } from "../wire/robot.ts";

const EVENTS = "/audio/events";
const RETRY_MS = 2000;
/** A sound stops this long after its `ended` event, because the page plays sounds with a delay. */
const ENDED_GRACE_MS = 500;
/**
 * If the sound began more than this long before its file is loaded, playback starts at the current
 * position of the sound, not at its beginning.
 */
const MAX_START_DELAY_S = 0.25;
/** Samples are played with this delay, so that late samples still arrive in time. */
const JITTER_BUFFER_S = 0.15;
/** New samples are dropped while the queued samples last longer than this. */
const MAX_AHEAD_S = 4;

interface Sound {
  volume(value: number): void;
  pause(paused: boolean): void;
  pushSamples(samples: SoundSamples): void;
  stop(): void;
}

/** Plays an audio file. */
class FileSound implements Sound {
  #element: HTMLAudioElement | null;
  #source = "";
  readonly #startS: number;

  constructor(
    { url, volume, loop, position }: SoundBegun & { url?: string | null },
    readonly isPaused: () => boolean,
  ) {
    this.#element = Object.assign(new Audio(), { volume, loop });
    this.#startS = performance.now() / 1000 - position;
    if (url) void this.#load(url);
  }

  /** Loads the whole file, because playback can start at any position. */
  async #load(url: string): Promise<void> {
    const answer = await fetch(url).catch(() => null);
    const blob = answer?.ok ? await answer.blob() : null;
    const element = this.#element;
    if (!blob || !element) return;
    this.#source = URL.createObjectURL(blob);
    element.src = this.#source;
    element.onloadedmetadata = () => {
      const late = performance.now() / 1000 - this.#startS;
      if (late > MAX_START_DELAY_S)
        element.currentTime = element.loop ? late % element.duration : Math.min(late, element.duration);
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

  pushSamples(): void {}

  stop(): void {
    this.#element?.pause();
    this.#element?.removeAttribute("src");
    this.#element = null;
    if (this.#source) URL.revokeObjectURL(this.#source);
  }
}

/** Plays streamed samples, one buffer after the other. Playback pauses with the audio context. */
class StreamSound implements Sound {
  readonly #gain: GainNode;
  /** Time of the audio context at which the next buffer starts, in seconds. */
  #next = 0;

  constructor(
    readonly context: AudioContext,
    volume: number,
  ) {
    this.#gain = new GainNode(context, { gain: volume });
    this.#gain.connect(context.destination);
  }

  pushSamples({ sample_rate, channels, data }: SoundSamples): void {
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
    const source = new AudioBufferSourceNode(context, { buffer });
    source.connect(this.#gain);
    // After a gap in the samples, start again with the full delay.
    if (this.#next < context.currentTime) this.#next = context.currentTime + JITTER_BUFFER_S;
    source.start(this.#next);
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

/** Receives the sound events of the robot, and plays its sounds while the sound is on. */
export class Speaker {
  readonly #sounds = new Map<string, Sound>();
  #context: AudioContext | null = null;
  #events: EventSource | null = null;
  #paused = false;
  #timer = 0;

  /** Number of sounds that are playing. */
  get playing(): number {
    return this.#sounds.size;
  }

  /** Pauses all sounds while the simulation is paused. */
  pause(paused: boolean): void {
    if (paused === this.#paused) return;
    this.#paused = paused;
    for (const sound of this.#sounds.values()) sound.pause(paused);
    void (paused ? this.#context?.suspend() : this.#context?.resume());
  }

  /** Turns the sound on or off. */
  setOn(on: boolean): void {
    clearTimeout(this.#timer);
    this.#events?.close();
    this.#events = null;
    this.#stopAll();
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
    stream.addEventListener("open", () => this.#stopAll());
    on<SoundBegun>("play", (sound) => {
      this.#remove(sound.id);
      const player =
        sound.kind === "file" ? new FileSound(sound, () => this.#paused) : new StreamSound(context, sound.volume);
      this.#sounds.set(sound.id, player);
    });
    on<SoundSamples>("pcm", (samples) => this.#sounds.get(samples.id)?.pushSamples(samples));
    on<{ id: string; volume: number }>("volume", ({ id, volume }) => this.#sounds.get(id)?.volume(volume));
    on<{ id: string }>("stop", ({ id }) => this.#remove(id));
    on("stop_all", () => this.#stopAll());
    on<{ id: string }>("ended", ({ id }) => {
      const sound = this.#sounds.get(id);
      this.#sounds.delete(id);
      setTimeout(() => sound?.stop(), ENDED_GRACE_MS);
    });
    stream.addEventListener("error", () => {
      this.#stopAll();
      // After an HTTP error status the browser does not reconnect by itself.
      if (stream.readyState === EventSource.CLOSED && stream === this.#events) {
        this.#timer = window.setTimeout(() => this.#connect(context), RETRY_MS);
      }
    });
  }

  #remove(id: string): void {
    this.#sounds.get(id)?.stop();
    this.#sounds.delete(id);
  }

  #stopAll(): void {
    for (const id of [...this.#sounds.keys()]) this.#remove(id);
  }
}
