/** Random edits of an open project through the commands of the page. */
import type { Visit } from "./support.js";

/**
 * Makes one edit after which the project has no errors, and waits until the server has saved it. An
 * edit that causes an error is undone, and another one is tried. Returns the name of the edit. The
 * choice depends only on the seed, the document and its undo history.
 */
export function editAtRandom(visit: Visit, seed: number, picture: string | null): Promise<string> {
  return visit.page.evaluate(
    async ({ seed, picture }) => {
      const { actions, session } = window.__build;
      let state = seed >>> 0;
      /** A number from 0 to 1 (mulberry32). */
      const random = () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let mixed = Math.imul(state ^ (state >>> 15), state | 1);
        mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
        return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
      };
      const between = (low: number, high: number) => low + random() * (high - low);
      const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)];
      const colour = () => `#${Math.floor(random() * 2 ** 24).toString(16).padStart(6, "0")}`;
      const somewhere = () => {
        const [x, y] = session.document.value.field.size;
        return { x: between(0.3, x - 0.3), y: between(0.3, y - 0.3) };
      };
      const select = (kinds: string, most: number) => {
        actions.selectAll();
        const all = [...session.selection.value].filter((key) => kinds.includes(key.split(":")[0]));
        session.select(Array.from({ length: Math.min(most, all.length) }, () => pick(all)));
      };
      const change = (apply: (draft: typeof session.document.value) => void) => session.apply("random edit", apply);
      const edits: Record<string, () => void> = {
        add: () => actions.add(pick(["box", "cylinder", "sphere", "cone", "light"] as const), somewhere()),
        picture: () => picture && actions.addPicture(picture, somewhere(), { width: between(0.2, 2), height: between(0.2, 2) }),
        move: () => (select("object decal node", 2), actions.move(between(-0.4, 0.4), between(-0.4, 0.4))),
        rotate: () => (select("object decal", 2), actions.rotate(between(-3, 3))),
        scale: () => (select("object decal", 2), actions.scale(between(0.6, 1.6))),
        remove: () => (select("object decal node", 1), actions.remove()),
        duplicate: () => (select("object decal", 2), actions.duplicate()),
        paste: () => (select("object decal", 3), actions.paste(actions.copy() ?? "")),
        align: () => (select("object", 3), actions.align(pick(["left", "centre", "right", "bottom", "middle", "top"] as const))),
        distribute: () => (select("object", 4), actions.distribute(pick(["x", "y"] as const))),
        group: () => (select("object", 3), actions.group()),
        ungroup: () => (select("object", 1), actions.ungroup()),
        layer: () => (select("decal", 1), actions.shiftLayer(pick([1, -1] as const))),
        node: () => (select("node", 1), actions.addNode()),
        width: () => (select("node", 1), actions.widen(between(-0.1, 0.1))),
        start: () => actions.moveStart(between(-2, 2)),
        reverse: () => actions.reverse(),
        close: () => actions.toggleClosed(),
        undo: () => session.undo(),
        redo: () => session.redo(),
        field: () => change((draft) => (draft.field.size[pick([0, 1])] += pick([0.5, 1]))),
        ground: () => change((draft) => (draft.field.ground = pick(["carpet", "grass"] as const))),
        fence: () => change((draft) => (draft.fence = draft.fence ? undefined : { height: between(0.2, 1), colour: colour() })),
        lines: () =>
          change(({ track }) => {
            track.outer_line = { width: between(0, 0.1), colour: colour() };
            track.centre_line = track.centre_line ? undefined : { width: 0.03, dash: between(0.1, 1), gap: between(0, 1) };
            track.start_line = random() < 0.5;
          }),
        look: () =>
          change((draft) => {
            const object = pick((draft.objects ?? []).filter(({ kind }) => kind !== "light"));
            if (object) Object.assign(object, { colour: colour(), static: random() < 0.5, mass: between(0.05, 5) });
          }),
        name: () => change((draft) => (draft.display_name = `World ${Math.floor(random() * 1e6)} "<&>" ä`)),
        rules: () =>
          change((draft) => {
            draft.evaluation = draft.evaluation
              ? undefined
              : {
                  config: { description: "Drive\none lap.", better: "lower", time_limit_s: between(10, 300), robot: "gen1" },
                  script: { template: "lap_time" },
                };
          }),
      };
      /** Waits until the page shows the preview of the current document. */
      const previewed = async () => {
        while (!window.__build.isCurrent) await new Promise((done) => setTimeout(done, 5));
      };
      for (let tries = 0; tries < 100; tries++) {
        const before = JSON.stringify(session.document.value);
        const name = pick(Object.keys(edits));
        edits[name]();
        if (JSON.stringify(session.document.value) === before) continue;
        await previewed();
        if (session.preview.value?.findings.some(({ severity }) => severity === "error")) {
          if (name === "undo") session.redo();
          else session.undo();
          continue;
        }
        await session.saved();
        return name;
      }
      throw new Error(`no edit with the seed ${seed} leaves a project without errors`);
    },
    { seed, picture },
  );
}
