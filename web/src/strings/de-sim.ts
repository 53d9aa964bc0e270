/** German texts of the page `/sim`: drive mode, axes of plots, facts about worlds, tour. */
import type { Strings } from "../strings.ts";

export const driveTexts: Strings["drive"] = {
  title: "Fahren",
  close: "Fahren beenden (Esc)",
  keys: "W, A, S, D oder die Pfeiltasten gedrückt halten. Loslassen hält das Auto an.",
  pad: "Gamepad: LB oder RB halten, mit dem Stick lenken, mit den Triggern fahren.",
  padOn: (name) => `Gamepad: ${name}`,
  padOff: "Kein Gamepad. Zum Verbinden eine Taste am Gamepad drücken.",
  padConnected: (name) => `Gamepad verbunden: ${name}. Zum Fahren D drücken.`,
  stick: "Berühren und ziehen, um zu fahren",
  limit: "Höchstgeschwindigkeit",
  stopped: "Das Auto wurde angehalten, weil die Seite den Fokus verloren hat.",
};

export const axisTexts: Strings["axes"] = {
  seconds: (value) => `${value} s`,
  now: "jetzt",
  minus: (value) => `−${value}`,
};

export const worldFactTexts: Strings["worldFacts"] = {
  length: (metres) => `${metres} m lang`,
  difficulties: { easy: "Leicht", medium: "Mittel", hard: "Schwer" },
  difficultyTitle: (perMetre, radius) =>
    `Schwierigkeit nach den Kurven: im Mittel ${perMetre}° je Meter, der engste Radius ist ${radius} m`,
  best: (record) => `Bestwert: ${record}`,
  bestTitle: (student, time) => [student, time].filter(Boolean).join(" · "),
  search: "Welten suchen",
  searchHint: "Name oder ID",
  noMatch: (query) => `Keine Welt passt zu „${query}“.`,
  deleting: (name) => `${name} wurde gelöscht.`,
  undo: "Rückgängig",
};

export const tourTexts: Strings["tour"] = {
  title: "Rundgang",
  steps: [
    {
      title: "Umsehen",
      text: "Ziehen dreht die Ansicht, Scrollen zoomt. Die Knöpfe in der Ecke folgen dem Auto oder zeigen die Strecke von oben.",
    },
    {
      title: "Dinge bewegen",
      text: "Das Auto oder einen Gegenstand anklicken, um ihn auszuwählen, und ziehen, um ihn zu bewegen. Strg+Z nimmt eine Bewegung zurück.",
    },
    {
      title: "Fahren und werten lassen",
      text: "Mit „Fahren“ selbst fahren, mit dem Weltknopf eine Strecke wählen und mit „Auswerten“ das eigene Programm stoppen lassen.",
    },
  ],
  progress: (step, of) => `Schritt ${step} von ${of}`,
  next: "Weiter",
  back: "Zurück",
  done: "Fertig",
  skip: "Rundgang schließen (Esc)",
  again: "Rundgang zeigen",
};
