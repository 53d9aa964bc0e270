/**
 * The findings of the server's check, as a list. A click on a finding moves the view to its place.
 */
import { t } from "../../strings.ts";
import { fill, h, write } from "../../ui/dom.ts";
import type { Finding } from "../client.ts";
import { centreOf, type Point } from "../geometry.ts";
import { decalKey, extentOfItems, itemsOf, nodeKey, objectKey, type ItemKey } from "../items.ts";
import type { EditorSession } from "../session.ts";

/** Largest number of shown findings. */
const MAX_SHOWN = 100;

/** The item of a finding; null if the finding is about something else. */
function keyOf({ location }: Finding): ItemKey | null {
  if (location.kind === "node" && typeof location.index === "number") return nodeKey(location.index);
  if (location.kind === "object" && location.name) return objectKey(location.name);
  if (location.kind === "decal" && typeof location.index === "number") return decalKey(location.index);
  return null;
}

export interface FindingsPanel {
  element: HTMLElement;
  /** Moves to the next finding of the list. */
  next(): void;
}

export function findingsPanel(session: EditorSession, goTo: (point: Point) => void, openRules: () => void): FindingsPanel {
  const summary = h("span", { class: "finding-summary", role: "status", "data-testid": "finding-summary" });
  const list = h("ul", { class: "findings" });
  let current = -1;

  function show(finding: Finding): void {
    const key = keyOf(finding);
    if (key) session.select([key]);
    if (finding.location.kind === "evaluation") openRules();
    const { x, y } = finding.location;
    const extent = key ? extentOfItems(itemsOf(session.document.value, [key])) : null;
    if (typeof x === "number" && typeof y === "number") goTo({ x, y });
    else if (extent) goTo(centreOf(extent));
    else if (finding.location.kind === "track") {
      const tightest = session.preview.value?.road?.tightest;
      if (tightest) goTo(tightest);
    }
  }

  function row(finding: Finding): HTMLElement {
    return h(
      "li",
      {},
      h(
        "button",
        {
          type: "button",
          class: "finding",
          "data-severity": finding.severity,
          "data-rule": finding.rule,
          "data-testid": "finding",
          on: { click: () => show(finding) },
        },
        h("span", { class: "finding-kind" }, t.build.findings[finding.severity]),
        h("span", {}, finding.text),
      ),
    );
  }

  function update(): void {
    const preview = session.preview.value;
    const [problem, failure] = [session.previewer.problem.value, session.previewer.failure.value];
    const findings = preview?.findings ?? [];
    const errors = findings.filter(({ severity }) => severity === "error").length;
    const warnings = findings.length - errors;
    const counts = [
      errors > 0 && t.build.findings.errors(errors),
      warnings > 0 && t.build.findings.warnings(warnings),
    ].filter((text) => text !== false);
    const state = preview ? counts.join(" · ") || t.build.findings.none : t.build.findings.waiting;
    const reason = problem ? t.build.findings.unreadable(problem) : failure && t.build.findings.unchecked(failure);
    write(summary, reason || state);
    summary.dataset["state"] = reason || errors > 0 ? "error" : warnings > 0 ? "warning" : "none";
    current = Math.min(current, findings.length - 1);
    fill(list, ...findings.slice(0, MAX_SHOWN).map(row));
  }

  session.preview.watch(update);
  session.previewer.problem.watch(update);
  session.previewer.failure.watch(update);
  const element = h(
    "section",
    { class: "findings-panel", "aria-label": t.build.findings.title, "data-testid": "findings" },
    h("header", {}, h("h2", {}, t.build.findings.title), summary),
    list,
  );
  return {
    element,
    next() {
      const findings = session.preview.value?.findings ?? [];
      if (findings.length === 0) return;
      current = (current + 1) % findings.length;
      show(findings[current]);
      session.say(findings[current].text);
    },
  };
}
