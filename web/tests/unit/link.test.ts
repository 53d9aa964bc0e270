import { beforeEach, describe, expect, it } from "vitest";
import { Link, type LinkStatus, type EventSourceLike } from "../../src/net/link.ts";

class FakeSource implements EventSourceLike {
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
let statuses: LinkStatus[];
let events: [string, unknown][];
let needsToken: boolean;
let link: Link;

beforeEach(() => {
  sources = [];
  timers = [];
  statuses = [];
  events = [];
  needsToken = false;
  link = new Link({
    open: () => {
      const source = new FakeSource();
      sources.push(source);
      return source;
    },
    signedOut: () => Promise.resolve(needsToken),
    onEvent: ({ name, data }) => {
      events.push([name, data]);
    },
    onStatus: (status) => statuses.push(status),
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

describe("link", () => {
  it("passes on the events that were requested", () => {
    sources[0].emit("open");
    sources[0].emit("state", '{"time":1}');
    sources[0].emit("other", "{}");
    expect(statuses).toEqual(["live"]);
    expect(events).toEqual([["state", { time: 1 }]]);
  });

  it("ignores an event that is not valid JSON", () => {
    sources[0].emit("open");
    sources[0].emit("state", '{"time":');
    sources[0].emit("state", '{"time":2}');
    expect(events).toEqual([["state", { time: 2 }]]);
  });

  it("does not retry while the browser reconnects by itself", () => {
    sources[0].emit("open");
    sources[0].readyState = 0;
    sources[0].emit("error");
    expect(statuses).toEqual(["live", "lost"]);
    expect(timers).toHaveLength(0);
    sources[0].emit("open");
    expect(statuses).toEqual(["live", "lost", "live"]);
    expect(sources).toHaveLength(1);
  });

  it("retries with a growing delay after the browser has given up, and resets the delay", async () => {
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

  it("reports a missing token and stops retrying", async () => {
    needsToken = true;
    fail(sources[0]);
    await settled();
    expect(statuses.at(-1)).toBe("signed-out");
    expect(timers.every((timer) => !timer.on)).toBe(true);
  });

  it("ignores events of a closed stream", () => {
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

  it("reconnects at once on retryNow, unless it is live", async () => {
    fail(sources[0]);
    await settled();
    link.retryNow();
    expect(sources).toHaveLength(2);
    expect(timers[0].on).toBe(false);
    sources[1].emit("open");
    link.retryNow();
    expect(sources).toHaveLength(2);
  });
});
