// Plays the robot's sounds: files as they are served, samples as they come. Browsers want a click first,
// so it begins with the button. The event stream tells everything; whoever connects starts anew.

const EVENTS = "/audio/events";
const [RETRY_MS, LAST_MOMENT_MS] = [2000, 500];
const LATE_S = 0.25; // A file that begins this late starts in the middle.
const JITTER_S = 0.15; // Samples begin this late, so that those that come late are still in time.
const MAX_AHEAD_S = 4; // Samples that come faster than they are played are left out.

/** A file. */
class File {
  constructor({ url, volume, loop, position }) {
    this.element = Object.assign(new Audio(), { volume, loop });
    this.begun = performance.now() / 1000 - position;
    this.load(url);
  }

  /** As a whole, so that it can start in the middle. */
  async load(url) {
    const answer = await fetch(url).catch(() => null);
    if (!answer?.ok || !this.element) return;
    this.source = URL.createObjectURL(await answer.blob());
    if (!this.element) return URL.revokeObjectURL(this.source);
    this.element.src = this.source;
    this.element.onloadedmetadata = () => {
      const { duration, loop } = this.element;
      const late = performance.now() / 1000 - this.begun;
      if (late > LATE_S) this.element.currentTime = loop ? late % duration : Math.min(late, duration);
      this.pause(paused);
    };
  }

  set volume(volume) {
    this.element.volume = volume;
  }

  pause(wanted) {
    if (wanted) this.element.pause();
    else if (this.source) this.element.play().catch(() => {});
  }

  stop() {
    this.element.pause();
    this.element.removeAttribute("src");
    this.element = null;
    if (this.source) URL.revokeObjectURL(this.source);
  }
}

/** Samples, one piece after the other. */
class Stream {
  constructor({ volume }) {
    this.gain = new GainNode(context, { gain: volume });
    this.gain.connect(context.destination);
    /** When the next piece begins. */
    this.next = 0;
  }

  feed({ sample_rate, channels, data }) {
    const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
    const samples = new DataView(bytes.buffer);
    const frames = Math.floor(bytes.length / 2 / channels);
    if (!frames || this.next - context.currentTime > MAX_AHEAD_S) return;
    const buffer = context.createBuffer(channels, frames, sample_rate);
    for (let c = 0; c < channels; c++) {
      const channel = buffer.getChannelData(c);
      for (let i = 0; i < frames; i++) channel[i] = samples.getInt16(2 * (i * channels + c), true) / 32768;
    }
    const piece = new AudioBufferSourceNode(context, { buffer });
    piece.connect(this.gain);
    // After a gap there is time again for what comes late.
    if (this.next < context.currentTime) this.next = context.currentTime + JITTER_S;
    piece.start(this.next);
    this.next += buffer.duration;
  }

  set volume(volume) {
    this.gain.gain.value = volume;
  }

  pause() {} // All samples stop with the context.

  stop() {
    this.gain.disconnect();
  }
}

/** What plays, by id. @type {Map<string, File | Stream>} */
const sounds = new Map();
/** @type {AudioContext | null} */
let context = null;
/** @type {EventSource | null} */
let events = null;
/** Whether simulated time stands still. */
let paused = false;

const on = {
  play(sound) {
    remove(sound.id);
    sounds.set(sound.id, sound.kind === "file" ? new File(sound) : new Stream(sound));
  },
  pcm: (samples) => sounds.get(samples.id)?.feed?.(samples),
  volume({ id, volume }) {
    const sound = sounds.get(id);
    if (sound) sound.volume = volume;
  },
  stop: ({ id }) => remove(id),
  stop_all: silence,
  ended({ id }) {
    const sound = sounds.get(id);
    sounds.delete(id);
    // The page may be a moment behind.
    setTimeout(() => sound?.stop(), LAST_MOMENT_MS);
  },
};

function remove(id) {
  sounds.get(id)?.stop();
  sounds.delete(id);
}

function silence() {
  for (const id of [...sounds.keys()]) remove(id);
}

function connect() {
  const stream = (events = new EventSource(EVENTS));
  stream.addEventListener("open", silence);
  for (const [name, act] of Object.entries(on)) {
    stream.addEventListener(name, ({ data }) => stream === events && act(JSON.parse(data)));
  }
  stream.addEventListener("error", () => {
    silence();
    // After an error status the browser does not try again by itself.
    if (stream.readyState === EventSource.CLOSED && stream === events) setTimeout(() => stream === events && connect(), RETRY_MS);
  });
}

/** Sounds stand still with the time they go by. */
export function pauseSounds(wanted) {
  if (wanted === paused) return;
  paused = wanted;
  for (const sound of sounds.values()) sound.pause(paused);
  if (context) paused ? context.suspend() : context.resume();
}

function toggle(button) {
  const wanted = button.ariaPressed !== "true";
  button.ariaPressed = `${wanted}`;
  button.title = wanted ? "Sound is on" : "Sound is off";
  if (wanted) {
    context ??= new AudioContext();
    paused ? context.suspend() : context.resume();
    connect();
  } else {
    events.close();
    events = null;
    silence();
    context.suspend();
  }
}

const button = document.getElementById("sound");
button.addEventListener("click", () => toggle(button));
