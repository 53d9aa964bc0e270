/**
 * Shows a run: loads it, and opens its replay in the 3D view or its result page.
 *
 * `app.run` says which run the page shows. It is kept in sync with the URL of the page, so that a
 * link opens the same view and the browser's back button works.
 */
import { type App, messageOf } from "../app.ts";
import { ApiError, post } from "../net/api.ts";
import { fetchRecord, fetchRecords, fetchTracks } from "../net/runs.ts";
import type { EvaluationRecord } from "../net/session.ts";
import { readAddress, writeAddress } from "../replay/address.ts";
import { Replay } from "../replay/replay.ts";
import type { SceneView } from "../scene/scene-view.ts";
import { t } from "../strings.ts";
import { fill, h, show } from "../ui/dom.ts";
import { icon } from "../ui/icons.ts";
import { listen } from "../ui/scope.ts";
import { replayBar } from "./replay-bar.ts";
import { replayCard } from "./replay-card.ts";
import { routeOf, type LoadedRun } from "./run-facts.ts";
import { runPage } from "./run-page.ts";

export function runView(
  app: App,
  sceneView: SceneView,
): { bar: HTMLElement; card: HTMLElement; notice: HTMLElement; page: HTMLElement } {
  const bar = replayBar(app);
  const card = replayCard(app);
  const page = runPage(app);
  const notice = h("div", { class: "run-notice", role: "status", "data-testid": "run-notice", hidden: true });
  /** The loaded run; null while it is being loaded. */
  let loaded: LoadedRun | null = null;
  /** Moment at which the replay opens; null if it plays from the start. */
  let openAt: number | null = null;

  /** Shows a message over the 3D view, with a button back to the live simulation. */
  function tell(text: string, ...more: (HTMLElement | false)[]): void {
    const back = h(
      "button",
      { type: "button", class: "plain", "data-testid": "notice-back", on: { click: () => (app.run.value = null) } },
      icon("undo"),
      t.replay.backToLive,
    );
    fill(notice, h("p", {}, text), ...more, back);
    show(notice, true);
  }

  async function load(session: string): Promise<void> {
    loaded = null;
    update();
    try {
      const run = await loadRun(session, (bytes) => {
        if (isCurrent() && bytes > 1e6) tell(t.replay.loading((bytes / 1e6).toFixed(0)));
      });
      if (!isCurrent()) return;
      loaded = run;
      update();
      const { records, complete } = await fetchRecords(run.record.world);
      if (!isCurrent()) return;
      card.setRuns(records);
      page.setRuns(records, complete);
    } catch (error) {
      if (!isCurrent()) return;
      if (loaded) return app.toast(messageOf(error));
      page.close();
      tell(messageOf(error));
    }
    function isCurrent(): boolean {
      return app.run.value?.session === session;
    }
  }

  /** Shows what `app.run` requests, as far as it is loaded. */
  function update(): void {
    const run = app.run.value;
    document.body.dataset["view"] = run?.view ?? "live";
    show(notice, false);
    if (run?.view !== "replay") closeReplay();
    if (!run || run.view !== "result") page.close();
    if (!run) return;
    if (!loaded) return tell(t.replay.loadingFirst);
    if (run.view === "result") return page.open(loaded);
    openReplay(loaded);
  }

  function closeReplay(): void {
    if (!app.replay.value) return;
    app.replay.value = null;
    sceneView.showReplay(null);
  }

  function openReplay({ record, tracks, problem }: LoadedRun): void {
    const world = app.world.value;
    if (!tracks) return tell(problem);
    if (!world) return tell(t.replay.loadingFirst);
    if (record.world !== world.world) {
      closeReplay();
      return tell(t.replay.otherWorld(record.world, world.display), ...switchButton(record));
    }
    if (app.replay.value?.record === record) return;
    if (record.rev && world.rev && record.rev !== world.rev) app.toast(t.replay.worldChanged, "note");
    const replay = new Replay(record, tracks, routeOf(app));
    if (openAt === null) replay.player.playing.value = true;
    else replay.player.seek(openAt);
    openAt = null;
    sceneView.showReplay(replay);
    app.replay.value = replay;
  }

  /**
   * A hint, and a button that switches the simulator to the world of a run. The switch affects all
   * users of the simulator.
   */
  function switchButton(record: EvaluationRecord): HTMLElement[] {
    const button = h(
      "button",
      { type: "button", class: "primary", "data-testid": "switch-world" },
      t.replay.openWorld(record.world),
    );
    button.addEventListener("click", () => {
      button.disabled = true;
      button.textContent = t.replay.openingWorld;
      const body = record.world_id ? { world_id: record.world_id } : { world: record.world };
      // The replay opens later, when the event stream reports the new world.
      post("/switch", body).catch((error: unknown) => {
        button.disabled = false;
        button.textContent = t.replay.openWorld(record.world);
        const missing = error instanceof ApiError && error.status === 404;
        app.toast(missing ? t.replay.worldMissing(record.world) : messageOf(error));
      });
    });
    return [h("p", { class: "hint" }, t.replay.otherWorldHint), button];
  }

  app.run.watch((run, before) => {
    if (before === undefined) return;
    if (run) {
      app.selected.value = null;
      app.driving.value = false;
      openAt = run.time;
    }
    const search = writeAddress(location.search, run);
    if (search !== location.search) history.pushState(null, "", `${location.pathname}${search}`);
    if (run && run.session !== before?.session) return void load(run.session);
    if (app.replay.value && run?.view === "replay" && run.time !== null) app.replay.value.player.seek(run.time);
    update();
  });
  app.world.watch(() => app.run.value && loaded && update());
  listen(window, "popstate", () => (app.run.value = readAddress(location.search)));
  if (app.run.value) {
    // The panels were rebuilt while a run was shown.
    openAt = app.run.value.time;
    void load(app.run.value.session);
  } else {
    app.run.value = readAddress(location.search);
  }
  return { bar, card: card.element, notice, page: page.element };
}

/**
 * Loads a run. If its tracks can't be loaded, for example because the run has no journal, the
 * record is still shown.
 */
async function loadRun(session: string, onProgress: (bytes: number) => void): Promise<LoadedRun> {
  const [record, tracks] = await Promise.all([
    fetchRecord(session),
    fetchTracks(session, onProgress).catch((error: unknown) => messageOf(error)),
  ]);
  if (!record.outcome) throw new ApiError(409, t.replay.stillRuns);
  return typeof tracks === "string" ? { record, tracks: null, problem: tracks } : { record, tracks, problem: "" };
}
