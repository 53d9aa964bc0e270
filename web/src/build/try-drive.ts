/** Tries the rules: builds the world, starts the judge, and shows its log and its verdict. */
import { get, post } from "../net/api.ts";
import { t } from "../strings.ts";
import { h, show, write } from "../ui/dom.ts";
import { clock, record } from "../ui/format.ts";
import { phaseText, verdictOf, verdictText } from "../ui/verdict.ts";
import type { CurrentSession, Session } from "../wire/sim.ts";
import type { BuilderClient } from "./client.ts";
import type { Editor } from "./editor.ts";
import { busy, errorLine } from "./forms.ts";

const POLL_MS = 500;

/** The text that the panel shows for a session. */
export function sessionText(session: Session): string {
  const texts = t.buildTabs.rules.drive;
  const state = session.outcome ? verdictText(verdictOf(session)) : phaseText(session.phase);
  const value = record(session.record);
  const parts = [state, clock(session.elapsed_s ?? 0), value === null ? null : texts.record(value), session.reason];
  return parts.filter(Boolean).join(" · ");
}

export function drivePanel(editor: Editor, client: BuilderClient): HTMLElement {
  const texts = t.buildTabs.rules.drive;
  const error = errorLine("drive-error");
  const status = h("p", { class: "note", role: "status", hidden: true, "data-testid": "drive-state" });
  const log = h("pre", {
    class: "lines",
    tabindex: 0,
    role: "log",
    "aria-label": t.evaluation.log,
    hidden: true,
    "data-testid": "drive-log",
  });
  const open = h(
    "a",
    { class: "quiet", href: "/sim", target: "_blank", rel: "noopener", hidden: true, "data-testid": "drive-open" },
    texts.open,
  );
  const start = h("button", { type: "button", class: "plain", "data-testid": "drive-start" }, texts.start);
  const stop = h("button", { type: "button", class: "plain", hidden: true, "data-testid": "drive-stop" }, texts.stop);
  const element = h(
    "section",
    { class: "form-stack" },
    h("h2", {}, texts.title),
    h("p", { class: "hint" }, texts.help),
    h("div", { class: "row wrap" }, start, stop, open),
    error.element,
    status,
    log,
  );

  function draw({ active, session }: CurrentSession, id: string): boolean {
    const isMine = session?.id === id;
    if (session && isMine) {
      write(status, sessionText(session));
      const lines = session.log.join("\n");
      const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 8;
      write(log, lines === "" ? t.evaluation.noLog : lines);
      if (atEnd) log.scrollTop = log.scrollHeight;
    }
    const isRunning = active && isMine;
    show(stop, isRunning);
    show(open, isRunning);
    show(start, !isRunning);
    return isRunning;
  }

  /** Polls until the session has ended, a request fails, or the panel is gone. */
  async function follow(id: string): Promise<void> {
    try {
      const isRunning = draw(await get<CurrentSession>("/evaluation/session"), id);
      if (isRunning && element.isConnected) setTimeout(() => void follow(id), POLL_MS);
    } catch (problem) {
      error.show(problem);
      show(start, true);
      show(stop, false);
    }
  }

  start.addEventListener("click", () => {
    void busy(start, error, async () => {
      await editor.saved();
      await client.drive(editor.id);
      const { session } = await post<{ session: Session }>("/evaluation/start");
      show(status, true);
      show(log, true);
      await follow(session.id);
    });
  });
  stop.addEventListener("click", () => void busy(stop, error, () => post("/evaluation/stop")));
  return element;
}
