/**
 * Facts on the tile of a world: length and difficulty of the road, and the best record. The list of
 * worlds does not contain these facts, so the page fetches them for each tile.
 */
import type { App } from "../app.ts";
import { fetchRouteFacts, type RouteFacts } from "../net/routes.ts";
import { fetchRecords } from "../net/runs.ts";
import { ranked } from "../replay/rank.ts";
import { t } from "../strings.ts";
import { fill, h, type Child } from "../ui/dom.ts";
import { localTime, record } from "../ui/format.ts";
import { icon } from "../ui/icons.ts";
import type { WorldEntry } from "../wire/sim.ts";
import { fetchUnit, withUnit } from "./run-facts.ts";

/** Largest number of worlds whose routes the page caches. */
const MAX_ROUTES = 200;

/**
 * Cache of routes by world. The files of a shipped world, and of a world with an id, never change.
 */
const routes = new Map<string, Promise<RouteFacts | null>>();

/** The best records by world, as texts; null if a world has none. */
const bests = new Map<string, Promise<{ text: string; title: string } | null>>();

/** Clears the cached best records, so that new runs are found. */
export function forgetBestRecords(): void {
  bests.clear();
}

/** An element with the facts of a world, which are fetched when the element becomes visible. */
export function worldFacts(app: App, world: WorldEntry): HTMLElement {
  const element = h("p", { class: "tile-facts", "data-testid": "world-facts" });
  const visible = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    visible.disconnect();
    void Promise.all([roadFacts(world), world.evaluation ? bestFact(app, world) : null]).then(([road, best]) => {
      fill(element, road, best);
      element.dataset["loaded"] = "";
    });
  });
  visible.observe(element);
  return element;
}

async function roadFacts({ name }: WorldEntry): Promise<Child> {
  let route = routes.get(name);
  if (!route) {
    // A world without a route is not an error, so its tile shows no length.
    route = fetchRouteFacts(name).catch(() => null);
    if (routes.size >= MAX_ROUTES) routes.clear();
    routes.set(name, route);
  }
  const facts = await route;
  if (!facts) return null;
  const { length, turning, radius, difficulty } = facts;
  return [
    h("span", { "data-testid": "world-length" }, t.worldFacts.length(length.toFixed(1))),
    h(
      "span",
      {
        class: "difficulty",
        "data-difficulty": difficulty,
        title: t.worldFacts.difficultyTitle(turning.toFixed(0), radius.toFixed(1)),
        "data-testid": "world-difficulty",
      },
      t.worldFacts.difficulties[difficulty],
    ),
  ];
}

async function bestFact(app: App, { name }: WorldEntry): Promise<Child> {
  let best = bests.get(name);
  if (!best) {
    best = fetchBest(app, name);
    bests.set(name, best);
  }
  const { text = "", title = "" } = (await best) ?? {};
  return text !== "" && h("span", { class: "world-best", title, "data-testid": "world-best" }, icon("trophy"), text);
}

async function fetchBest(app: App, name: string): Promise<{ text: string; title: string } | null> {
  const records = (await fetchRecords(name).catch(() => null))?.records ?? [];
  const best = records.length > 0 ? ranked(records, records[0].better)[0] : undefined;
  if (!best) return null;
  return {
    text: t.worldFacts.best(withUnit(record(best.record) ?? "", await fetchUnit(app, best))),
    title: t.worldFacts.bestTitle(best.student ?? "", localTime(best.started_at)),
  };
}
