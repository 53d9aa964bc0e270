/** The table of laps and sectors on the result page. */
import { SECTORS, type Lap } from "../replay/laps.ts";
import { t } from "../strings.ts";
import { h } from "../ui/dom.ts";
import { fixed, signed } from "../ui/format.ts";

/**
 * One row per lap. `other` is the first lap of another run: if it is given, each time shows the
 * difference to it. `name` describes the other run.
 */
export function sectorTable(laps: readonly Lap[], other: Lap | null, name: string): HTMLElement {
  if (laps.every((lap) => lap.sectors[0] === null)) return h("p", { class: "hint" }, t.replay.noSectors);
  const numbers = Array.from({ length: SECTORS }, (_, i) => i);
  const several = laps.length > 1;
  const bestOf = (times: readonly (number | null)[]) => Math.min(...times.map((time) => time ?? Number.POSITIVE_INFINITY));
  const bests = [...numbers.map((i) => bestOf(laps.map((lap) => lap.sectors[i]))), bestOf(laps.map((lap) => lap.time))];
  const cell = (time: number | null, compared: number | null | undefined, best: number) =>
    h(
      "td",
      { "data-best": several && time !== null && time === best },
      time === null ? t.units.none : t.replay.seconds(fixed(time, 2)),
      time !== null && compared !== null && compared !== undefined && difference(time - compared),
    );
  return h(
    "div",
    { class: "sector-box" },
    h(
      "table",
      { class: "sectors", "data-testid": "sectors" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          several && h("th", { scope: "col" }, t.replay.lap),
          ...numbers.map((i) => h("th", { scope: "col" }, t.replay.sector(i + 1))),
          h("th", { scope: "col" }, t.replay.lapTime),
        ),
      ),
      h(
        "tbody",
        {},
        ...laps.map((lap) =>
          h(
            "tr",
            {},
            several && h("th", { scope: "row" }, String(lap.number)),
            ...numbers.map((i) => cell(lap.sectors[i], other?.sectors[i], bests[i])),
            cell(lap.time, other?.time, bests[SECTORS]),
          ),
        ),
      ),
    ),
    h("p", { class: "hint" }, t.replay.sectorHint, other ? ` ${t.replay.sectorsVersus(name)}` : ""),
  );
}

function difference(seconds: number): HTMLElement {
  const tone = seconds > 0.005 ? "behind" : seconds < -0.005 ? "ahead" : "even";
  return h("span", { class: "sector-gap", "data-gap": tone }, signed(seconds, 2));
}
