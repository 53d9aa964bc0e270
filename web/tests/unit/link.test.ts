import { beforeEach, describe, expect, it } from "vitest";
import { Link, type LinkStatus, type Source } from "../../src/net/link.ts";

class FakeSource implements Source {
  readyState = 0;
  closed = false;
  readonly listeners = new Map<string, ((event: { data?: string }) => void)[]>();
  addEventListener(type: string, listener: (event: { data?: string }) => void): void {
    this.listeners.set(type, [...(this.listeners.get(type) ?? []), listener]);
  }
  close(): void {
    this.closed = true;
    this.readyState = 2;
  }
  emit(type: string, data?: string): void {
    for (const listener of this.listeners.get(type) ?? []) listener({ data });
  }
}

let sources: FakeSource[];
let timers: { run: () => void; ms: number; on: boolean }[];
let told: LinkStatus[];
let events: [string, unknown][];
let refused: boolean;
let link: Link;

beforeEach(() => {
  sources = [];
  timers = [];
  told = [];
  events = [];
  refused = false;
  link = new Link({
    open: () => {
      const source = new FakeSource();
      sources.push(source);
      return source;
    },
    signedOut: () => Promise.resolve(refused),
    events: ["state", "run"],
    onEvent: (name, data) => events.push([name, data]),
    onStatus: (status) => told.push(status),
    setTimeout: (run, ms) => timers.push({ run, ms, on: true }),
    clearTimeout: (timer) => {
      if (timers[timer - 1]) timers[timer - 1].on = false;
    },
  });
  link.start();
});

const fail = (source: FakeSource) => {
  source.readyState = 2;
  source.emit("error");
};
const settled = () => new Promise((done) => setTimeout(done, 0));

describe("the event stream", () => {
  it("hands on what it was asked for", () => {
    sources[0].emit("open");
    sources[0].emit("state", '{"time":1}');
    sources[0].emit("other", "{}");
    expect(told).toEqual(["live"]);
    expect(events).toEqual([["state", { time: 1 }]]);
  });

  it("passes over an event that is torn", () => {
    sources[0].emit("open");
    sources[0].emit("state", '{"time":');
    sources[0].emit("state", '{"time":2}');
    expect(events).toEqual([["state", { time: 2 }]]);
  });

  it("leaves it to the browser while that still tries", () => {
    sources[0].emit("open");
    sources[0].readyState = 0;
    sources[0].emit("error");
    expect(told).toEqual(["live", "lost"]);
    expect(timers).toHaveLength(0);
    sources[0].emit("open");
    expect(told).toEqual(["live", "lost", "live"]);
    expect(sources).toHaveLength(1);
  });

  it("tries again by itself when the browser has given up, slower and slower, and quickly after success", async () => {
    for (let i = 0; i < 8; i++) {
      fail(sources[i]);
      await settled();
      timers[i].run();
    }
    expect(timers.map((timer) => timer.ms)).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000, 8000]);
    expect(sources).toHaveLength(9);
    sources[8].emit("open");
    fail(sources[8]);
    await settled();
    expect(timers[8].ms).toBe(500);
  });

  it("says when a token is asked for, and does not go on knocking", async () => {
    refused = true;
    fail(sources[0]);
    await settled();
    expect(told.at(-1)).toBe("signed-out");
    expect(timers.every((timer) => !timer.on)).toBe(true);
  });

  it("hears nothing of a stream that was let go of", () => {
    sources[0].emit("open");
    link.stop();
    expect(sources[0].closed).toBe(true);
    sources[0].emit("state", '{"time":9}');
    expect(events).toEqual([]);
    link.start();
    sources[1].emit("open");
    sources[1].emit("state", '{"time":10}');
    expect(events).toEqual([["state", { time: 10 }]]);
  });

  it("hurries when the network is back, and not when all is well", async () => {
    fail(sources[0]);
    await settled();
    link.hurry();
    expect(sources).toHaveLength(2);
    expect(timers[0].on).toBe(false);
    sources[1].emit("open");
    link.hurry();
    expect(sources).toHaveLength(2);
  });
});
