/** Checks a page with axe-core. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Visit } from "./support.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

/**
 * The violations that axe-core finds on a page, each as one line. Waits for the end of transitions
 * first, because their colours have other contrasts.
 */
export async function violations(visit: Visit): Promise<string[]> {
  await visit.page.waitForFunction(() => {
    const transitions = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
    return transitions.every((transition) => transition.playState !== "running");
  });
  // The content security policy forbids inline scripts, so Playwright evaluates the library.
  await visit.page.evaluate(AXE);
  const found = await visit.page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
    return (await axe.run()).violations;
  });
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
}
