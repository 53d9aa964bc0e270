/** Tells records of the running server from records of earlier runs, which may have had other options. */
import { API } from "./api.ts";
import type { Status } from "../wire/sim.ts";

/** The server rounds its times down to full seconds. */
const RESOLUTION_MS = 1000;

/** Whether a session began since the server was started. All times are of the server's clock. */
export function beganSince(startedAt: string, now: string, uptimeS: number): boolean {
  return Date.parse(startedAt) + RESOLUTION_MS >= Date.parse(now) - uptimeS * 1000;
}

/** Asks the server whether a session began since the server was started; false without an answer. */
export async function beganOnThisServer(startedAt: string): Promise<boolean> {
  try {
    const response = await fetch(`${API}/status`);
    const { uptime_s } = (await response.json()) as Status;
    return beganSince(startedAt, response.headers.get("date") ?? "", Number(uptime_s));
  } catch {
    return false;
  }
}
