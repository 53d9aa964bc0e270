/** From the event stream to the app: states, sessions, and the world when it is another one. */
import * as THREE from "three";
import type { App, Evaluation } from "../app.ts";
import type { Stage } from "../scene/stage.ts";
import type { Clock, Scene, State, Track, Vehicle, World } from "../wire/sim.ts";
import { API, Refused, get } from "./api.ts";
import { Link } from "./link.ts";
import {
  type Current,
  type EvaluationEvent,
  type EvaluationRecord,
  type RunEvent,
  afterEvaluation,
  afterRun,
  viewOf,
} from "./session.ts";

const RETRY_MS = 1500;
const PING_MS = 4000;
/** A page that nobody sees lets go of its stream after this: browsers have few connections to a host. */
const HIDDEN_MS = 15_000;

const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));

export function connect(app: App, stage: Stage, shown: (bounds: THREE.Box2) => void): void {
  /** What the world on the stage was loaded for; another key needs another one. */
  let wanted = "";
  let loads = 0;
  /** The files that are drawn. */
  let onStage = "";
  /** Grows when the same world may be another one. */
  let anew = 0;

  async function load(): Promise<void> {
    const mine = ++loads;
    for (;;) {
      try {
        const [world, profile, scene, clock] = await Promise.all([
          get<World>("/world"),
          get<Vehicle>("/vehicle"),
          get<Scene>("/scene"),
          get<Clock>("/clock"),
        ]);
        const evaluation = world.evaluation ? await get<Evaluation>("/evaluation") : null;
        if (mine !== loads) return;
        const bounds = boundsOf(world.track);
        const drawn = `${scene.world_glb} ${scene.car_glb}`;
        if (drawn !== onStage) {
          await stage.show(scene.world_glb, scene.car_glb, profile, app.state.value?.lights ?? [], bounds);
          if (mine !== loads) return;
          onStage = drawn;
        }
        app.profile.value = profile;
        app.evaluation.value = evaluation;
        app.speed.value = clock.speed;
        const known = app.world.value;
        app.world.value = world;
        if (known?.world !== world.world) shown(bounds);
        return;
      } catch (error) {
        if (mine !== loads) return;
        // While a world is being swapped the parts may not fit together: once more, then.
        if (!(error instanceof Refused) || error.status !== 0) console.info("the world could not be shown yet:", error);
        await sleep(RETRY_MS);
        if (mine !== loads) return;
      }
    }
  }

  function onState(state: State): void {
    const before = app.state.value;
    if (before && typeof state.time === "number" && typeof before.time === "number" && state.time < before.time) anew++;
    app.state.value = state;
    stage.take(state, performance.now());
    const key = `${state.world ?? ""} ${anew}`;
    if (state.current && key !== wanted) {
      wanted = key;
      void load();
    }
    if (state.evaluation.active && !app.session.value?.active) void session();
  }

  let asking = false;
  /** Lines of a story that came so far. */
  let lines = 0;
  async function session(): Promise<void> {
    if (asking) return;
    asking = true;
    try {
      let heard: number;
      do {
        heard = lines;
        const current = await get<Current>("/evaluation/session");
        const id = current.session?.id;
        const recorded = id
          ? await get<EvaluationRecord>(`/evaluation/record?session=${encodeURIComponent(id)}`)
          : null;
        app.session.value = viewOf(current, recorded, app.session.value);
        // A line that came while we asked may be in neither: once more, then.
      } while (heard !== lines);
    } catch {
      // The next state asks again.
    } finally {
      asking = false;
    }
  }

  const link = new Link({
    open: () => new EventSource(`${API}/events`),
    signedOut: async () => (await fetch(`${API}/status`).catch(() => null))?.status === 401,
    events: ["state", "run", "evaluation"],
    onEvent(name, data) {
      if (name !== "state") lines++;
      if (name === "state") onState(data as State);
      else if (name === "run") app.session.value = afterRun(app.session.value, data as RunEvent);
      else app.session.value = afterEvaluation(app.session.value, data as EvaluationEvent);
    },
    onStatus(status) {
      app.link.value = status;
      if (status === "live") {
        anew++; // It may be another server by now.
        void session();
      }
    },
    setTimeout: (run, ms) => window.setTimeout(run, ms),
    clearTimeout: (timer) => window.clearTimeout(timer),
  });
  link.start();

  addEventListener("online", () => link.hurry());
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
}

/** The ground of a track, or what its route covers. */
function boundsOf({ bounds, route }: Track): THREE.Box2 {
  if (bounds)
    return new THREE.Box2(new THREE.Vector2(bounds.minX, bounds.minY), new THREE.Vector2(bounds.maxX, bounds.maxY));
  const box = new THREE.Box2();
  for (const [x, y] of route?.waypoints ?? []) box.expandByPoint(new THREE.Vector2(x, y));
  return box.isEmpty() ? new THREE.Box2(new THREE.Vector2(-3, -3), new THREE.Vector2(3, 3)) : box.expandByScalar(0.6);
}
