/**
 * Tries the rules on a recorded run from a list or from a file, and shows the verdict and the log
 * of the judging script.
 */
import { t } from "../strings.ts";
import { fill, h, show, write } from "../ui/dom.ts";
import { clock, record } from "../ui/format.ts";
import { verdictOf, verdictText } from "../ui/verdict.ts";
import type { ProjectRun, RejudgedRun } from "../wire/sim.ts";
import type { BuilderClient } from "./client.ts";
import type { Editor } from "./editor.ts";
import { busy, dateText, errorLine, field, fileChooser, select } from "./forms.ts";

/** The server's size limit for the file of a run. */
const MAX_FILE_BYTES = 64 << 20;

const joined = (...parts: readonly (string | null | undefined)[]): string => parts.filter(Boolean).join(" · ");

const resultOf = (value: unknown): string | null => {
  const text = record(value);
  return text === null ? null : t.buildTabs.rules.drive.record(text);
};

/** A run in the list: who drove it, its result and its date. */
export function runText(run: ProjectRun): string {
  const driver = run.student ?? run.command ?? t.buildTabs.rules.recorded.noProgram;
  return joined(driver, resultOf(run.record) ?? verdictText(verdictOf(run)), dateText(run.started_at));
}

/** The verdict of a run that was judged again, and its earlier verdict. */
export function rejudgedText(judged: RejudgedRun): string {
  const now = joined(
    verdictText(verdictOf(judged)),
    clock(judged.elapsed_s ?? 0),
    resultOf(judged.record),
    judged.error ? null : judged.reason,
  );
  const before = joined(verdictText(verdictOf(judged.before)), resultOf(judged.before.record));
  return `${now} (${t.buildTabs.rules.recorded.before(before)})`;
}

/** The element that shows the result of judging a run. */
function resultView(): { element: HTMLElement; clear(): void; draw(judged: RejudgedRun): void } {
  const texts = t.buildTabs.rules;
  const verdict = h("p", { class: "note", "data-testid": "run-verdict" });
  const world = h("p", { class: "hint", "data-testid": "run-world" }, texts.recorded.otherWorld);
  const problem = h("p", { class: "error", "data-testid": "run-script-error" });
  const omitted = h("p", { class: "hint" });
  const log = h("pre", {
    class: "lines",
    tabindex: 0,
    role: "log",
    "aria-label": t.evaluation.log,
    "data-testid": "run-log",
  });
  const element = h("div", { class: "form-stack", hidden: true }, verdict, world, problem, omitted, log);
  return {
    element,
    clear() {
      show(element, false);
      write(verdict, "");
    },
    draw(judged) {
      const { error } = judged;
      write(verdict, rejudgedText(judged));
      show(world, !judged.same_world);
      const line = error?.line ?? null;
      write(problem, error ? (line === null ? error.text : texts.atLine(line, error.text)) : "");
      show(problem, Boolean(error));
      write(omitted, texts.recorded.omitted(judged.omitted));
      show(omitted, judged.omitted > 0);
      write(log, judged.log.length === 0 ? t.evaluation.noLog : judged.log.join("\n"));
      show(element, true);
    },
  };
}

/** The list of runs. It is loaded by `load`. */
function runList(client: BuilderClient, id: string) {
  const texts = t.buildTabs.rules.recorded;
  const choice = select([], "");
  choice.dataset["testid"] = "run-choice";
  const none = h("p", { class: "hint", hidden: true, "data-testid": "run-none" }, texts.none);
  const chosen = field(texts.run, choice);
  show(chosen, false);
  return {
    elements: [chosen, none],
    value: () => choice.value,
    async load(): Promise<boolean> {
      const { runs } = await client.runs(id);
      const before = choice.value;
      fill(choice, ...runs.map((run) => h("option", { value: run.session }, runText(run))));
      if (runs.some(({ session }) => session === before)) choice.value = before;
      show(chosen, runs.length > 0);
      show(none, runs.length === 0);
      return runs.length > 0;
    },
  };
}

/** Progress and a cancel button, shown while work runs. */
function progressRow() {
  const texts = t.buildTabs.rules.recorded;
  const cancel = h("button", { type: "button", class: "plain", "data-testid": "run-cancel" }, texts.cancel);
  const bar = h("progress", { "aria-label": texts.judging });
  const element = h("div", { class: "row", hidden: true, role: "status" }, bar, h("span", {}, texts.judging), cancel);
  let running: AbortController | null = null;
  cancel.addEventListener("click", () => running?.abort());
  return {
    element,
    isRunning: () => running !== null,
    /** Runs `work` and returns its result. Returns null if the user has cancelled it. */
    async run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | null> {
      const own = new AbortController();
      running = own;
      show(element, true);
      try {
        return await work(own.signal);
      } catch (error) {
        if (own.signal.aborted) return null;
        throw error;
      } finally {
        running = null;
        show(element, false);
      }
    },
  };
}

export function runPanel(editor: Editor, client: BuilderClient): HTMLElement {
  const texts = t.buildTabs.rules.recorded;
  const error = errorLine("run-error");
  const list = runList(client, editor.id);
  const result = resultView();
  const progress = progressRow();
  const start = h("button", { type: "button", class: "plain", disabled: true, "data-testid": "run-start" }, texts.start);
  const reload = h("button", { type: "button", class: "plain", "data-testid": "run-reload" }, texts.reload);

  const judge = (request: (signal: AbortSignal) => Promise<RejudgedRun>): void => {
    // The simulator judges one run at a time, so no second run is started.
    if (progress.isRunning()) return;
    result.clear();
    void busy(choose, error, () =>
      busy(start, error, async () => {
        const judged = await progress.run(async (signal) => {
          await editor.saved();
          return request(signal);
        });
        if (judged) result.draw(judged);
      }),
    ).then(() => (start.disabled = list.value() === ""));
  };
  const take = (file: File): void => {
    if (file.size > MAX_FILE_BYTES) return error.show(texts.tooLarge);
    judge((signal) => client.rejudgeFile(editor.id, file, signal));
  };
  const load = (): void =>
    void busy(reload, error, async () => {
      start.disabled = !(await list.load());
    });
  const [input, choose] = fileChooser(texts.file, ".chicane", "run", take);
  start.addEventListener("click", () => judge((signal) => client.rejudge(editor.id, list.value(), signal)));
  reload.addEventListener("click", load);

  const element = h(
    "details",
    { class: "rules-section", "data-testid": "recorded-run" },
    h("summary", {}, texts.title),
    h("p", { class: "hint" }, texts.help),
    ...list.elements,
    h("div", { class: "row wrap" }, start, reload, choose, input),
    error.element,
    progress.element,
    result.element,
  );
  element.addEventListener("toggle", () => element.open && load());
  element.addEventListener("dragover", (event) => event.preventDefault());
  element.addEventListener("drop", (event) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) take(file);
  });
  return element;
}
