/** Requests to the simulator. */
import { t } from "../strings.ts";
import type { ErrorBody } from "../wire/sim.ts";

export const API = "/sim/api";

/** The server said no, in its own words, or nothing at all (status 0). */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

async function ask<T>(path: string, init?: RequestInit): Promise<T> {
  const answer = await fetch(path, init).catch(() => null);
  if (!answer) throw new Refused(0, t.link.silence);
  const data: unknown = await answer.json().catch(() => null);
  if (!answer.ok) {
    const said = (data as ErrorBody | null)?.error ?? (data as { detail?: unknown } | null)?.detail;
    throw new Refused(answer.status, typeof said === "string" ? said : `${answer.status} ${answer.statusText}`);
  }
  return data as T;
}

/** GET below `/sim/api`. */
export function get<T>(path: string): Promise<T> {
  return ask<T>(API + path);
}

/** POST below `/sim/api`. */
export function post<T = unknown>(path: string, body: object = {}): Promise<T> {
  return send<T>(API + path, body);
}

/** POST to any path, for the robot's own. */
export function send<T = unknown>(path: string, body: object = {}): Promise<T> {
  return ask<T>(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** DELETE below `/sim/api`. */
export function remove<T = unknown>(path: string): Promise<T> {
  return ask<T>(API + path, { method: "DELETE" });
}
