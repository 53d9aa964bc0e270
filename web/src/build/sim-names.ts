/**
 * The names that a judging script can use, for the editor's completion. A test compares them with
 * the harness and with the messages that the simulator sends to the harness.
 */

/**
 * Names by the expression before the dot. For a method, the value is its list of arguments. For a
 * property, the value is null.
 */
export const SIM_NAMES = {
  sim: {
    state: null,
    objects: null,
    origins: null,
    track: null,
    route: null,
    config: null,
    seed: null,
    random: null,
    teleport: "x, y, yaw",
    move_object: "name, x, y, z, yaw",
    set_light: "name, state",
    overlay: "text, secs=10, size=1",
    set_brightness: "value",
    pause: "paused=True",
    record: "value",
    finish: "",
  },
  "sim.state": {
    time: null,
    paused: null,
    rtf: null,
    brightness: null,
    pose: null,
    objects: null,
    lights: null,
    contacts: null,
    run: null,
    audio: null,
  },
  "sim.state.pose": {
    x: null,
    y: null,
    z: null,
    roll: null,
    pitch: null,
    yaw: null,
    q: null,
    speed: null,
    steering: null,
    pan: null,
    tilt: null,
  },
  "sim.state.run": { running: null, exit_code: null },
  "sim.state.audio": { playing: null, events: null },
  "sim.track": { waypoints: null, inner: null, outer: null, bounds: null },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string | null>>>>;

/** The functions that a script defines, and the name of the error for a refused action. */
export const SCRIPT_NAMES = ["initialize", "evaluate", "SimError"] as const;

export type SimPath = keyof typeof SIM_NAMES;
