/** Requests to the simulator. */
import { t } from "../strings.ts";
import type { ErrorBody } from "../wire/sim.ts";

export const API = "/sim/api";

/** A failed request, with the error message of the server. Status 0 means no response. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

async function request<T>(path: string, init?: RequestInit): Promise<T> {
  const response = await fetch(path, init).catch(() => null);
  if (!response) throw new ApiError(0, t.link.noResponse);
  const data: unknown = await response.json().catch(() => null);
  if (!response.ok) {
    const message = (data as ErrorBody | null)?.error ?? (data as { detail?: unknown } | null)?.detail;
    const fallback = t.link.httpError(response.status, response.statusText);
    throw new ApiError(response.status, typeof message === "string" ? message : fallback);
  }
  return data as T;
}

/** Sends a GET request to a path below `/sim/api`. */
export function get<T>(path: string): Promise<T> {
  return request<T>(API + path);
}

/** Sends a POST request to a path below `/sim/api`. */
export function post<T = unknown>(path: string, body: object = {}): Promise<T> {
  return send<T>(API + path, body);
}

/** Sends a POST request to any path, such as the robot's own paths. */
export function send<T = unknown>(path: string, body: object = {}): Promise<T> {
  return request<T>(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** Sends a DELETE request to a path below `/sim/api`. */
export function remove<T = unknown>(path: string): Promise<T> {
  return request<T>(API + path, { method: "DELETE" });
}
