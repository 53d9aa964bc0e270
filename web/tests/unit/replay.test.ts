import { describe, expect, it } from "vitest";
import type { RecordedEvent } from "../../src/wire/sim.ts";
import { parseTracks } from "../../src/net/tracks.ts";
import { readAddress, writeAddress } from "../../src/replay/address.ts";
import { csvParts } from "../../src/replay/csv.ts";
import { alignLines } from "../../src/replay/lines.ts";
import { isClock, marksOf, penaltiesOf } from "../../src/replay/marks.ts";
import { Player } from "../../src/replay/player.ts";
import { ghostsFor, standingOf } from "../../src/replay/rank.ts";
import { colouredLine, speedColour, speedScale } from "../../src/replay/speed-colours.ts";
import { indexAt, RunPoses } from "../../src/scene/run-poses.ts";
import { en } from "../../src/strings/en.ts";
import { preciseClock, record, signed } from "../../src/ui/format.ts";
import { scaleOf } from "../../src/ui/run-plot.ts";
import { frameTime } from "../../src/panels/onboard.ts";
import { mergeMarks } from "../../src/panels/replay-bar.ts";
import { clockRecords, driveLoop, encodeRun, makeRecord } from "../run-file.js";

const log = (time: number, line: string): RecordedEvent => ({ kind: "log", time, line });
const output = (time: number, line: string): RecordedEvent => ({ kind: "run", phase: "log", stream: "stdout", time, line });

describe("address of a run", () => {
  it("names view, session and time", () => {
    expect(readAddress("?replay=20260101-000000-0001&t=12.5")).toEqual({
      view: "replay",
      session: "20260101-000000-0001",
      time: 12.5,
    });
    expect(readAddress("?quality=low&result=a_1")).toEqual({ view: "result", session: "a_1", time: null });
    for (const none of ["", "?world=oval", "?replay=", "?replay=a/b", `?replay=${"a".repeat(101)}`])
      expect(readAddress(none), none).toBeNull();
    for (const text of ["-1", "x", "Infinity", " "]) expect(readAddress(`?replay=a&t=${text}`)?.time).toBeNull();
  });

  it("replaces an earlier one and keeps other parameters", () => {
    const run = { view: "replay", session: "b", time: 1.234 } as const;
    expect(writeAddress("?quality=low&result=a", run)).toBe("?quality=low&replay=b&t=1.23");
    expect(writeAddress("?quality=low&replay=a&t=3", null)).toBe("?quality=low");
    expect(writeAddress("?replay=a", null)).toBe("");
  });
});

describe("player", () => {
  it("advances by its speed, stops at the end and starts again", () => {
    const player = new Player(2);
    player.advance(1);
    expect(player.time.value).toBe(0);
    player.toggle();
    player.speed.value = 4;
    player.advance(0.25);
    expect(player.time.value).toBe(1);
    player.advance(10);
    expect([player.time.value, player.playing.value]).toEqual([2, false]);
    player.toggle();
    expect([player.time.value, player.playing.value]).toEqual([0, true]);
  });

  it("pauses for frame by frame, and clamps a seek", () => {
    const player = new Player(1);
    player.toggle();
    player.seek(0.5);
    player.step(1);
    expect(player.playing.value).toBe(false);
    expect(player.time.value).toBeCloseTo(0.52, 9);
    for (let i = 0; i < 3; i++) player.step(-1);
    expect(player.time.value).toBeCloseTo(0.46, 9);
    player.seek(7);
    expect(player.time.value).toBe(1);
    player.seek(-7);
    expect(player.time.value).toBe(0);
  });
});

describe("poses of a run", () => {
  const rows = [0, 1, 2, 3].map((i) => ({ time: 0.02 * i, x: 0.01 * i, wheel0: i === 3 ? 3.1 : -3.1, along: i }));

  it("are interpolated between samples, and clamped at the ends", () => {
    const poses = new RunPoses(parseTracks(encodeRun(rows)));
    expect(poses.car(0.01).x).toBeCloseTo(0.005, 6);
    expect(poses.car(9).x).toBeCloseTo(0.03, 6);
    expect(poses.car(-1).x).toBe(0);
    expect(poses.value("along", 0.05)).toBeCloseTo(2.5, 5);
    // From −3.1 to 3.1, the shorter way passes through π.
    expect(Math.abs(poses.joints(0.05).wheels[0])).toBeGreaterThan(3);
    expect(indexAt([0, 1, 2], 1.5)).toBe(1);
  });

  it("are not interpolated across a teleport", () => {
    const jumping = [...rows.slice(0, 2), { time: 0.04, x: 0.2 }, { time: 0.06, x: 0.21 }];
    const poses = new RunPoses(parseTracks(encodeRun(jumping, { jumps: [0.035] })));
    expect(poses.car(0.039).x).toBeCloseTo(0.01, 6);
    expect(poses.car(0.04).x).toBeCloseTo(0.2, 6);
    expect(poses.car(0.05).x).toBeCloseTo(0.205, 6);
  });

  it("hold an object that rests before it moves again", () => {
    const box = { name: "box1", rows: [0, 0.02, 5, 5.02].map((time, i) => ({ time, x: 0.01 * i, y: 0 })) };
    const poses = new RunPoses(parseTracks(encodeRun(rows, {}, [box])));
    expect(poses.object("box1", 0.01)?.x).toBeCloseTo(0.005, 6);
    expect(poses.object("box1", 4.9)?.x).toBeCloseTo(0.01, 6);
    expect(poses.object("box1", 5.01)?.x).toBeCloseTo(0.025, 6);
    expect(poses.object("box2", 1)).toBeNull();
  });

  it("have lights, contacts, brightness and overlay of the moment", () => {
    const poses = new RunPoses(
      parseTracks(
        encodeRun(rows, {
          lights: [{ name: "a", changes: [{ time: 0, state: "green" }, { time: 1, state: "yellow" }] }],
          contacts: [{ time: 1, name: "box1", duration: 2 }, { time: 1.5, name: "box1", duration: 0 }],
          brightness: [{ time: 0, value: 1 }, { time: 1, value: 0.5 }],
          overlays: [{ time: 1, text: "go", ttl: 2, size: 3 }],
        }),
      ),
    );
    expect([poses.light("a", 0.9), poses.light("a", 1), poses.light("b", 1)]).toEqual(["green", "yellow", null]);
    expect([poses.contacts(0.9), poses.contacts(1.6), poses.contacts(3.1)]).toEqual([[], ["box1"], []]);
    expect([poses.brightness(0.5), poses.brightness(2)]).toEqual([1, 0.5]);
    expect([poses.overlay(0.9).text, poses.overlay(2.9).text, poses.overlay(3).text]).toEqual(["", "go", ""]);
  });
});

describe("penalties and marks", () => {
  it("are log lines with an amount", () => {
    const lines = ["the clock runs", "2.00 s: the car left the road, +5 s", "lap 1+2 done", "+10 points"];
    const events = lines.map((line, i) => log(i + 1, line));
    expect(penaltiesOf(events, "lower").map(({ time }) => time)).toEqual([2, 4]);
  });

  it("are records that get worse at once, unless a line says so", () => {
    const silent = [...clockRecords(0, 2), ...clockRecords(2.1, 4, 7.1)];
    expect(penaltiesOf(silent, "lower")).toEqual([{ time: expect.closeTo(2.1, 5), text: en.replay.penaltyOf("5") }]);
    const logged = [...silent, log(2.06, "off the road: +5 s")].toSorted((a, b) => a.time - b.time);
    expect(penaltiesOf(logged, "lower")).toEqual([{ time: 2.06, text: "off the road: +5 s" }]);
    const points = [10, 20, 18].map((value, time): RecordedEvent => ({ kind: "record", time, record: value }));
    expect(penaltiesOf(points, "higher").map(({ text }) => text)).toEqual([en.replay.penaltyOf("2")]);
  });

  it("show the first and the last record of a clock, and every other change", () => {
    const events = clockRecords(0, 3);
    expect(isClock(events)).toBe(true);
    const marks = marksOf(events, null, "lower").filter(({ kind }) => kind === "record");
    expect(marks.map(({ text }) => text)).toEqual([en.replay.recordMark("0"), en.replay.recordMark("3")]);
    const points = [1, 5, 9].map((value, time): RecordedEvent => ({ kind: "record", time, record: { points: value } }));
    expect(isClock(points)).toBe(false);
    expect(marksOf(points, null, "higher").map(({ text }) => text)).toEqual(
      ["points 1", "points 5", "points 9"].map(en.replay.recordMark),
    );
  });

  it("include contacts and changes of lights, sorted by time", () => {
    const tracks = parseTracks(
      encodeRun([{ time: 0 }], {
        contacts: [{ time: 3, name: "box1", duration: 0.5 }],
        lights: [{ name: "s", changes: [{ time: 0, state: "green" }, { time: 2, state: "red" }] }],
      }),
    );
    const marks = marksOf([log(1, "hello")], tracks, "lower");
    expect(marks.map(({ kind, time }) => [kind, time])).toEqual([
      ["log", 1],
      ["light", 2],
      ["contact", 3],
    ]);
  });

  it("are merged on the timeline if they are too close to each other", () => {
    const marks = [0, 0.1, 50].map((time) => ({ kind: "log" as const, time, duration: 0, text: String(time) }));
    expect(mergeMarks(marks, 100).map(({ texts }) => texts)).toEqual([["0", "0.1"], ["50"]]);
    expect(mergeMarks(marks, 1)).toHaveLength(3);
  });
});

describe("program and judge", () => {
  it("are aligned by time, to a hundredth of a second", () => {
    const events: RecordedEvent[] = [
      { kind: "run", phase: "start", time: 0, command: "python3 run.py" },
      output(1.2, "hello"),
      output(1.204, "again"),
      log(1.2, "off the road: +5 s"),
      log(0.5, "late line"),
      { kind: "run", phase: "exit", time: 2, exit_code: 0 },
      { kind: "truncated", time: 2 },
    ];
    const { rows, dropped } = alignLines(events);
    expect(rows.map(({ time }) => time)).toEqual([0, 0.5, 1.2, 2]);
    expect(rows[2].program.map(({ text }) => text)).toEqual(["hello", "again"]);
    expect(rows[2].judge).toEqual([{ text: "off the road: +5 s", penalty: true }]);
    expect([rows[0].program[0].from, rows[3].program[0].text]).toEqual(["note", en.evaluation.exitCode("0")]);
    expect(dropped).toBe(0);
  });

  it("have a limit of lines", () => {
    const events = Array.from({ length: 30 }, (_, i) => output(i, "x"));
    expect(alignLines(events, 10)).toMatchObject({ dropped: 20, rows: { length: 10 } });
  });
});

describe("rank", () => {
  const run = makeRecord(20);
  const runs = [makeRecord(18), makeRecord(30), run, makeRecord(18), makeRecord(null), makeRecord(5, { outcome: "timeout" })];

  it("counts better runs, and runs of the same record share it", () => {
    expect(standingOf(run, runs)).toMatchObject({ rank: 3, of: 4, best: { session: runs[0].session } });
    expect(standingOf(runs[3], runs)).toMatchObject({ rank: 1, of: 4 });
    // The list from the server can be older than the run, so it may not contain the run.
    expect(standingOf(run, runs.slice(0, 2))).toMatchObject({ rank: 2, of: 3 });
    expect(standingOf({ ...run, better: "higher" }, runs)).toMatchObject({ rank: 2, of: 4 });
  });

  it("does not exist for a run without a record", () => {
    for (const none of [makeRecord(null), makeRecord("done"), makeRecord(5, { outcome: "timeout" })])
      expect(standingOf(none, runs)).toBeNull();
  });

  it("orders the ghosts: other finished runs with a journal, the best first", () => {
    const without = makeRecord(1, { journal: null });
    expect(ghostsFor(run, [...runs, without]).map((one) => one.record)).toEqual([18, 18, 30]);
  });
});

describe("colours by speed", () => {
  const car = (speeds: readonly number[], jumps: number[] = []) => {
    const rows = speeds.map((speed, i) => ({ time: 0.02 * i, x: 0.05 * i + (jumps.length && i > 2 ? 1 : 0), speed }));
    return parseTracks(encodeRun(rows, { jumps })).car;
  };

  it("go from slow to fast, and are clamped", () => {
    expect(speedColour(0)).toBe("rgb(79, 110, 247)");
    expect(speedColour(1)).toBe("rgb(255, 224, 92)");
    expect([speedColour(-1), speedColour(2)]).toEqual([speedColour(0), speedColour(1)]);
    expect(new Set([0, 0.25, 0.5, 0.75, 1].map(speedColour)).size).toBe(5);
  });

  it("span the speeds of the moving car, at least 0.4 m/s", () => {
    expect(speedScale([0, 0, 0.5, 1, 1.5, 2])).toEqual({ low: 0.5, high: 2 });
    const constant = speedScale(Array.from({ length: 50 }, (_, i) => 1 + 0.001 * (i % 2)));
    expect(constant.high - constant.low).toBeCloseTo(0.4, 5);
    expect(speedScale([0, 0])).toEqual({ low: 0, high: 0.4 });
    expect(speedScale([0.1, 0.1])).toEqual({ low: 0, high: 0.4 });
  });

  it("split the line where the colour changes, without a gap", () => {
    const parts = colouredLine(car([0, 0, 1, 1, 1]), [], { low: 0, high: 1 });
    expect(parts.map(({ colour }) => colour)).toEqual([speedColour(0), speedColour(1)]);
    expect(parts[1].points[0]).toEqual(parts[0].points.at(-1));
  });

  it("interrupt the line at a teleport", () => {
    const parts = colouredLine(car([1, 1, 1, 1, 1], [0.06]), [0.06], { low: 0, high: 1 });
    expect(parts).toHaveLength(2);
    expect(parts[1].points[0][0] - parts[0].points.at(-1)![0]).toBeGreaterThan(1);
  });

  it("have a limited number of points", () => {
    const rows = driveLoop({ length: 1e4, seconds: 400, speed: 3 });
    const { car: long } = parseTracks(encodeRun(rows));
    const points = colouredLine(long, [], { low: 0, high: 3 }).flatMap((part) => part.points);
    expect(points.length).toBeLessThan(7000);
  });
});

describe("formats", () => {
  it("of CSV: units in the head, empty fields for missing values, any number of parts", () => {
    const rows = driveLoop({ length: 9, seconds: 120, speed: 1 });
    const parts = [...csvParts(parseTracks(encodeRun(rows.map((row, i) => (i === 0 ? { ...row, along: Number.NaN } : row)))))];
    const lines = parts.join("").trimEnd().split("\r\n");
    expect(parts.length).toBe(3);
    expect(lines).toHaveLength(6002);
    expect(lines[0]).toMatch(/^time_s,x_m,.*,offset_m,along_m$/);
    expect(lines[1]).toMatch(/^0,0,.*,0,$/);
    expect(lines[51]).toMatch(/^1,1,0,0,0,0,0,1,1,/);
  });

  it("of times, differences and records", () => {
    expect([preciseClock(62.346), preciseClock(-1), preciseClock(59.999)]).toEqual(["1:02.35", "0:00.00", "1:00.00"]);
    expect([signed(0.421, 2), signed(-1.3, 2), signed(0.001, 2)]).toEqual(["+0.42", "−1.30", "±0.00"]);
    expect(record({ laps: 2, best: [1.5, 2] })).toBe("laps 2, best 1.5, 2");
  });

  it("of camera frames: the tick at or after the frame's time", () => {
    expect([frameTime(4, 30), frameTime(4.034, 30), frameTime(4.035, 30), frameTime(4.07, 30)]).toEqual([4, 4, 4.035, 4.07]);
    expect([frameTime(0, 30), frameTime(0.01, 15)]).toEqual([0, 0]);
  });

  it("of axes: a round number above all values", () => {
    expect(scaleOf([[0, 1.93], [Number.NaN, -0.2]], 0.5)).toBe(2);
    expect(scaleOf([[]], 0.5)).toBeCloseTo(0.5, 9);
    expect(scaleOf([[-0.131]], 0.1)).toBeCloseTo(0.14, 9);
  });
});
