/**
 * Connects the event stream with the app: stores states and evaluation sessions, and loads the
 * world into the 3D view when the server's world has changed.
 */
import * as THREE from "three";
import type { App, Evaluation } from "../app.ts";
import type { SceneView } from "../scene/scene-view.ts";
import type { Clock, Scene, State, Track, Vehicle, World } from "../wire/sim.ts";
import { API, ApiError, get } from "./api.ts";
import { Link } from "./link.ts";
import {
  type Current,
  type EvaluationEvent,
  type EvaluationRecord,
  afterEvaluation,
  afterRun,
  viewOf,
  withInterference,
  withRecord,
} from "./session.ts";

const RETRY_MS = 1500;
/** Interval of the requests that measure the latency and read the requested speed. */
const PING_MS = 4000;
/**
 * Interval of the requests for the interference of a run: the number of commands from other
 * senders. No event contains this number.
 */
const INTERFERENCE_MS = 1000;
/**
 * A hidden page closes its event stream after this time, because a browser allows only a few
 * connections per host.
 */
const HIDDEN_MS = 15_000;

const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Starts the connection. Calls `onNewWorld` when a world with another name is shown. */
export function connect(
  app: App,
  sceneView: SceneView,
  onNewWorld: (bounds: THREE.Box2) => void,
): void {
  /** World name and `generation` of the last load. A state with other values starts a new load. */
  let requestedKey = "";
  /** Number of loads so far. A load ends without effect if a newer load has started. */
  let loadCount = 0;
  /** URLs of the glTF files that the 3D view shows. */
  let shownFiles = "";
  /** A counter that increases when the world may have changed although its name is the same. */
  let generation = 0;

  async function load(): Promise<void> {
    const thisLoad = ++loadCount;
    for (;;) {
      try {
        const [world, profile, scene, clock] = await Promise.all([
          get<World>("/world"),
          get<Vehicle>("/vehicle"),
          get<Scene>("/scene"),
          get<Clock>("/clock"),
        ]);
        const evaluation = world.evaluation ? await get<Evaluation>("/evaluation") : null;
        if (thisLoad !== loadCount) return;
        const bounds = boundsOf(world.track);
        const files = `${scene.world_glb} ${scene.car_glb}`;
        if (files !== shownFiles) {
          await sceneView.showWorld(scene.world_glb, scene.car_glb, profile, app.state.value?.lights ?? [], bounds);
          if (thisLoad !== loadCount) return;
          shownFiles = files;
        }
        app.profile.value = profile;
        app.evaluation.value = evaluation;
        app.speed.value = clock.speed;
        const previous = app.world.value;
        app.world.value = world;
        if (previous?.world !== world.world) onNewWorld(bounds);
        return;
      } catch (error) {
        if (thisLoad !== loadCount) return;
        // During a world switch the responses can belong to different worlds. Then loading fails,
        // and the loop repeats it.
        if (!(error instanceof ApiError) || error.status !== 0)
          console.info("Loading the world failed, retrying:", error);
        await sleep(RETRY_MS);
        if (thisLoad !== loadCount) return;
      }
    }
  }

  function onState(state: State): void {
    const before = app.state.value;
    if (before && typeof state.time === "number" && typeof before.time === "number" && state.time < before.time) generation++;
    app.state.value = state;
    sceneView.pushState(state, performance.now());
    const key = `${state.world ?? ""} ${generation}`;
    if (state.current && key !== requestedKey) {
      requestedKey = key;
      void load();
    }
    const { active, session } = state.evaluation;
    if (active && session !== hiddenSession && !app.session.value?.active) void refreshSession();
  }

  let isFetchingSession = false;
  /** Id of an active session that the role of the page's token hides. */
  let hiddenSession: string | null = null;
  /** Number of `run` and `evaluation` events received so far. */
  let eventCount = 0;
  /** Fetches the current session and its record. */
  async function refreshSession(): Promise<void> {
    if (isFetchingSession) return;
    isFetchingSession = true;
    try {
      let countBefore: number;
      do {
        countBefore = eventCount;
        const idBefore = app.session.value?.session.id;
        const current = await get<Current>("/evaluation/session");
        const id = current.session?.id;
        if (current.active && !id) hiddenSession = app.state.value?.evaluation.session ?? null;
        const recorded = id
          ? await get<EvaluationRecord>(`/evaluation/record?session=${encodeURIComponent(id)}`)
          : null;
        // A session that began during the requests may be in neither response.
        if (app.session.value?.session.id === idBefore) app.session.value = viewOf(current, recorded, app.session.value);
        // Neither may be an event that arrived during the requests. Then the requests are repeated.
      } while (countBefore !== eventCount);
    } catch {
      // The next state event of an active session calls this function again.
    } finally {
      isFetchingSession = false;
    }
  }

  /**
   * Fetches the record of a session that has ended, because the event of the end does not contain
   * all fields of the record.
   */
  async function fetchRecord(session: string): Promise<void> {
    const path = `/evaluation/record?session=${encodeURIComponent(session)}`;
    const record = await get<EvaluationRecord>(path).catch(() => null);
    if (record) app.session.value = withRecord(app.session.value, record);
  }

  function onEvaluation(event: EvaluationEvent): void {
    app.session.value = afterEvaluation(app.session.value, event);
    if (event.kind === "end") void fetchRecord(event.session);
  }

  const link = new Link({
    open: () => new EventSource(`${API}/events`),
    // The server answers a wrong or outdated token with 401. If several such requests arrive within
    // a second, it answers with 429. So both statuses mean that the page needs a new token.
    signedOut: async () => {
      const status = (await fetch(`${API}/status`).catch(() => null))?.status;
      return status === 401 || status === 429;
    },
    onEvent(event) {
      if (event.name !== "state") eventCount++;
      if (event.name === "state") onState(event.data);
      else if (event.name === "run") app.session.value = afterRun(app.session.value, event.data);
      else onEvaluation(event.data);
    },
    onStatus(status) {
      app.link.value = status;
      if (status === "live") {
        generation++; // The server may have been restarted with another world.
        void refreshSession();
      }
    },
    setTimeout: (run, ms) => window.setTimeout(run, ms),
    clearTimeout: (timer) => window.clearTimeout(timer),
  });
  link.start();

  addEventListener("online", () => link.retryNow());
  let hiding = 0;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hiding);
    if (document.hidden) hiding = window.setTimeout(() => link.stop(), HIDDEN_MS);
    else link.start();
  });

  async function ping(): Promise<void> {
    const since = performance.now();
    const clock = await get<Clock>("/clock").catch(() => null);
    app.latencyMs.value = clock ? performance.now() - since : null;
    if (clock) app.speed.value = clock.speed;
  }
  setInterval(() => {
    if (!document.hidden && app.link.value === "live" && app.world.value) void ping();
  }, PING_MS);
  let isFetchingInterference = false;
  setInterval(async () => {
    const isRunning = app.link.value === "live" && app.session.value?.session.phase === "running";
    if (document.hidden || !isRunning || isFetchingInterference) return;
    isFetchingInterference = true;
    const current = await get<Current>("/evaluation/session").catch(() => null);
    isFetchingInterference = false;
    if (current) app.session.value = withInterference(app.session.value, current);
  }, INTERFERENCE_MS);
}

/**
 * The ground of a track. A track without a ground gets its route's bounding box and a margin. If it
 * has no route either, it gets a square of 6 m.
 */
function boundsOf({ bounds, route }: Track): THREE.Box2 {
  if (bounds)
    return new THREE.Box2(new THREE.Vector2(bounds.minX, bounds.minY), new THREE.Vector2(bounds.maxX, bounds.maxY));
  const box = new THREE.Box2();
  for (const [x, y] of route?.waypoints ?? []) box.expandByPoint(new THREE.Vector2(x, y));
  return box.isEmpty() ? new THREE.Box2(new THREE.Vector2(-3, -3), new THREE.Vector2(3, 3)) : box.expandByScalar(0.6);
}
