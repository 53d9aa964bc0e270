/** English: the texts of the settings. */
import type { Shortcut } from "../shortcuts.ts";

/** A row of the help: fixed keys or gestures, keys that the user can change, and what they do. */
export interface HelpRow {
  keys?: readonly string[];
  shortcuts?: readonly Shortcut[];
  action: string;
}

export const settingsTexts = {
  title: "Settings",
  close: "Close",
  language: "Language",
  languageAuto: (name: string) => `Automatic (${name})`,
  theme: "Theme",
  themes: { system: "As the system", light: "Light", dark: "Dark" },
  quality: "Image quality",
  qualities: { auto: "Automatic", low: "Low", medium: "Medium", high: "High" },
  qualityNow: (level: string) => `Automatic (${level})`,
  qualityHelp: "Low is the fastest. A higher level adds shadows, reflections and more detail around the field.",
  qualityFixed: "The address of this page sets the quality.",
  qualityEdges: "Smooth edges follow when the page is loaded again.",
  speedUnit: "Speed",
  angleUnit: "Angles",
  angleUnits: { deg: "Degrees (°)", rad: "Radians (rad)" },
  unitsHelp: "Units change the display only. The web API and the fields to enter numbers stay the same.",
  appearance: "Appearance",
  units: "Units",
  keyboard: "Keyboard",
  shortcuts: "Keyboard shortcuts",
  shortcutsTitle: "Turn off if keys interfere with an input aid",
  shortcutsHelp: "Choose an action, then press its new key. A key that is already used is swapped.",
  pressKey: "Press a key…",
  changeKey: (action: string, key: string) => `${action}: ${key}. Change key`,
  keyReserved: (key: string) => `The key ${key} has a fixed meaning. Press another key.`,
  usualKeys: "Reset all keys",
  space: "Space",
  actions: {
    pause: "Pause or run",
    step: "Step",
    reset: "Reset",
    orbit: "Orbit view",
    chase: "Chase view",
    top: "Top view",
    onboard: "On-board camera",
    resetView: "Reset view",
    zoomIn: "Zoom in",
    zoomOut: "Zoom out",
    next: "Next object",
    previous: "Previous object",
    turnLeft: "Rotate left",
    turnRight: "Rotate right",
    drive: "Drive",
    instruments: "Instruments",
    lidar: "Lidar points",
    trail: "Trails",
    sound: "Sound",
    worlds: "Worlds",
    evaluation: "Evaluation",
    program: "Program",
    settings: "Settings",
    help: "Help",
  } satisfies Record<Shortcut, string>,
};
