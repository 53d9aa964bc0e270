/** Polls the leaderboard, and hands in programs. */
import { API, ApiError, get } from "../net/api.ts";
import { t } from "../strings.ts";
import { Signal } from "../ui/signal.ts";
import type { ErrorBody, Leaderboard, Submission, SubmissionReceived } from "../wire/sim.ts";
import type { Upload } from "./upload.ts";

/** Time between two requests. */
const POLL_MS = 2000;

/**
 * State of the connection: `live` while the page receives the tables, `none` if the simulator has
 * no leaderboard.
 */
export type Connection = "connecting" | "live" | "lost" | "signed-out" | "none";

/** Polls the leaderboard. Its signals contain the newest tables and the state of the connection. */
export class Client {
  readonly board = new Signal<Leaderboard | null>(null);
  readonly connection = new Signal<Connection>("connecting");
  #timer = 0;

  /** Polls until the page is closed. */
  start(): void {
    void this.#poll();
    // The browser slows down timers of a hidden page, so the page polls immediately when it is
    // shown again.
    document.addEventListener("visibilitychange", () => !document.hidden && this.refresh());
  }

  /** Polls immediately. */
  refresh(): void {
    clearTimeout(this.#timer);
    void this.#poll();
  }

  async #poll(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      this.board.value = await get<Leaderboard>("/leaderboard");
      this.connection.value = "live";
    } catch (error) {
      this.connection.value = connectionAfter(error);
    }
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#poll(), POLL_MS);
  }
}

function connectionAfter(error: unknown): Connection {
  if (!(error instanceof ApiError)) return "lost";
  if (error.status === 401) return "signed-out";
  return error.code === "no_leaderboard" ? "none" : "lost";
}

/** Hands in a program. */
export async function handIn(student: string, { bytes, type }: Upload): Promise<SubmissionReceived> {
  const address = `${API}/submissions?student=${encodeURIComponent(student)}`;
  const response = await fetch(address, { method: "POST", headers: { "Content-Type": type }, body: bytes }).catch(
    () => null,
  );
  if (!response) throw new ApiError(0, t.link.noResponse);
  const data: unknown = await response.json().catch(() => null);
  if (response.ok) return data as SubmissionReceived;
  const body = data as Partial<ErrorBody> | null;
  const fallback = t.link.httpError(response.status, response.statusText);
  throw new ApiError(response.status, body?.error ?? fallback, body?.code ?? null);
}

/** A submission; null if the simulator has no submission with this id. */
export async function fetchSubmission(id: string): Promise<Submission | null> {
  try {
    return await get<Submission>(`/submissions/${encodeURIComponent(id)}`);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
