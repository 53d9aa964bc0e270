/** Requests to the simulator. */
import { t } from "../strings.ts";
import type { Detail } from "../wire/robot.ts";
import type { ErrorBody, ErrorCode } from "../wire/sim.ts";

export const API = "/sim/api";

/**
 * A failed request. The message is the translation of the error code, or else the server's text.
 * Status 0 means that there was no response.
 */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly code: ErrorCode | null = null,
  ) {
    super(message);
  }
}

async function request<T>(path: string, init?: RequestInit): Promise<T> {
  const response = await fetch(path, init).catch(() => null);
  if (!response) throw new ApiError(0, t.link.noResponse);
  const data: unknown = await response.json().catch(() => null);
  if (!response.ok) {
    throw failure(response, data as Partial<ErrorBody & Detail> | null);
  }
  return data as T;
}

/** The error of a response. If a proxy has replaced the server's body, fields may be missing. */
export function failure(response: Response, body: Partial<ErrorBody & Detail> | null): ApiError {
  const code = body?.code ?? null;
  const text = body?.error ?? body?.detail;
  const translated = code && (t.errors as Partial<Record<ErrorCode, string>>)[code];
  const fallback = t.link.httpError(response.status, response.statusText);
  return new ApiError(response.status, translated ?? (typeof text === "string" ? text : fallback), code);
}

/** Sends a GET request to a path below `/sim/api`. */
export function get<T>(path: string): Promise<T> {
  return request<T>(API + path);
}

/**
 * Sends a GET request to a path below `/sim/api` and returns the bytes of the response. A response
 * larger than `maxBytes` is an error. Calls `onProgress` with the number of bytes received so far.
 */
export async function getBytes(
  path: string,
  maxBytes: number,
  onProgress?: (bytes: number) => void,
): Promise<ArrayBuffer> {
  const response = await fetch(API + path).catch(() => null);
  if (!response) throw new ApiError(0, t.link.noResponse);
  if (!response.ok) {
    throw failure(response, (await response.json().catch(() => null)) as Partial<ErrorBody & Detail> | null);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    chunks.push(next.value);
    size += next.value.length;
    if (size > maxBytes) {
      await reader?.cancel();
      throw new ApiError(response.status, t.link.tooLarge(Math.round(maxBytes / 1024 / 1024)));
    }
    onProgress?.(size);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes.buffer;
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
