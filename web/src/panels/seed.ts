/** The seed of a run: whether it changes the world, and which seed is next. */
import type { EvaluationConfig } from "../app.ts";

/** Largest seed that the server accepts. */
export const MAX_SEED = Number.MAX_SAFE_INTEGER;

/** Whether a seed changes the world of an evaluation. Seed 0 is the world as published. */
export function variesWithSeed(config: EvaluationConfig | null | undefined): boolean {
  return Object.keys(config?.vary ?? {}).length > 0;
}

/** The next seed. After the largest seed comes 1, because seed 0 changes nothing. */
export function nextSeed(seed: number | null | undefined): number {
  return seed === undefined || seed === null || seed >= MAX_SEED ? 1 : seed + 1;
}

/** The seed to show; null if it is 0 and seeds change nothing in this world. */
export function seedText(seed: number | null | undefined, config: EvaluationConfig | null | undefined): string | null {
  return seed || variesWithSeed(config) ? String(seed ?? 0) : null;
}
