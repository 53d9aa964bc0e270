/**
 * Finds out whether a session began before or after the start of the server. Before its start, the
 * server may have had other options.
 */
import { API } from "./api.ts";
import type { Status } from "../wire/sim.ts";

/**
 * Tolerance of the comparison of two times, because the server rounds its times down to full
 * seconds.
 */
const RESOLUTION_MS = 1000;

/** Whether a session began after the server was started. All times are from the server's clock. */
export function beganSince(startedAt: string, now: string, uptimeS: number): boolean {
  return Date.parse(startedAt) + RESOLUTION_MS >= Date.parse(now) - uptimeS * 1000;
}

/**
 * Asks the server whether a session began after the server was started. Returns false if the
 * server does not respond.
 */
export async function beganOnThisServer(startedAt: string): Promise<boolean> {
  try {
    const response = await fetch(`${API}/status`);
    const { uptime_s } = (await response.json()) as Status;
    return beganSince(startedAt, response.headers.get("date") ?? "", Number(uptime_s));
  } catch {
    return false;
  }
}
