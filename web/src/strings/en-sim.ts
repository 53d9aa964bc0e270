/** English texts of the page `/sim`: drive mode, axes of plots, facts about worlds, tour. */

export const driveTexts = {
  title: "Drive",
  close: "Stop driving (Esc)",
  keys: "Hold W, A, S, D or the arrow keys to drive. Release the keys to stop the car.",
  pad: "Gamepad: hold LB or RB, steer with the stick, drive with the triggers.",
  padOn: (name: string) => `Gamepad: ${name}`,
  padOff: "No gamepad. Press a button on a gamepad to connect it.",
  padConnected: (name: string) => `Gamepad connected: ${name}. Press D to drive.`,
  stick: "Touch and drag to drive",
  limit: "Maximum speed",
  stopped: "The car was stopped because the page lost focus.",
};

/** Axes of the plots. */
export const axisTexts = {
  seconds: (value: string) => `${value} s`,
  now: "now",
  /** A value below zero. A true minus sign is as wide as a plus sign. */
  minus: (value: string) => `−${value}`,
};

/** Facts about a world on its tile in the worlds dialog. */
export const worldFactTexts = {
  length: (metres: string) => `${metres} m long`,
  difficulties: { easy: "Easy", medium: "Medium", hard: "Hard" },
  difficultyTitle: (perMetre: string, radius: string) =>
    `Difficulty by the bends of the road: ${perMetre}° per metre on average; the tightest radius is ${radius} m`,
  best: (record: string) => `Best: ${record}`,
  bestTitle: (student: string, time: string) => [student, time].filter(Boolean).join(" · "),
  search: "Search worlds",
  searchHint: "Name or ID",
  noMatch: (query: string) => `No world matches "${query}".`,
  deleting: (name: string) => `${name} was deleted.`,
  undo: "Undo",
};

/** The tour for the first visit. */
export const tourTexts = {
  title: "Tour",
  steps: [
    {
      title: "Look around",
      text: "Drag to rotate the view, scroll to zoom. The buttons in the corner follow the car or show the track from above.",
    },
    {
      title: "Move things",
      text: "Click the car or an object to select it, and drag it to move it. Ctrl+Z takes a move back.",
    },
    {
      title: "Drive and be judged",
      text: "Drive yourself with the Drive button, choose a track with the world button, and let a judge time your program. The Program button opens an editor.",
    },
  ],
  progress: (step: number, of: number) => `Step ${step} of ${of}`,
  next: "Next",
  back: "Back",
  done: "Done",
  skip: "Close the tour (Esc)",
  again: "Show the tour",
};
