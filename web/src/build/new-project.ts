/** The dialog that creates a new project: empty, from a shipped world, or with a random track. */
import { API, get } from "../net/api.ts";
import { t } from "../strings.ts";
import { h, fill, show } from "../ui/dom.ts";
import type { Worlds } from "../wire/sim.ts";
import { type BuilderClient, conflictOf, type NewProject, type ProjectView, type RandomOptions } from "./client.ts";
import { busy, errorLine, field, freshId, metres, openDialog, radios, slider, worldName } from "./forms.ts";

type Source = "empty" | "world" | "random";

/** Largest seed of this form. The server accepts larger ones, up to 2^53 − 1. */
const MAX_SEED = 2 ** 32 - 1;
/**
 * Largest number of attempts to save a title. The server refuses a save if another editor has saved
 * the project in the meantime.
 */
const MAX_ATTEMPTS = 4;

/** Changes the display name of a project. Another editor's change of other fields is kept. */
export async function rename(
  client: BuilderClient,
  view: Pick<ProjectView, "id" | "revision" | "document">,
  title: string,
): Promise<void> {
  let { revision, document } = view;
  for (let attempt = 1; ; attempt++) {
    try {
      await client.save(view.id, revision, { ...document, display_name: title });
      return;
    } catch (error) {
      const current = conflictOf(error);
      if (!current || attempt === MAX_ATTEMPTS) throw error;
      ({ revision, document } = current);
    }
  }
}

/** Creates a project and gives it a title, unless the title is empty. */
export async function create(client: BuilderClient, source: NewProject, title: string): Promise<ProjectView> {
  const view = await client.create(source);
  if (title !== "" && view.document.display_name !== title) await rename(client, view, title);
  return view;
}

/** The shipped worlds as a group of radio buttons with pictures. */
function worldChoice(): { element: HTMLElement; chosen: () => string } {
  const list = h("div", { class: "world-choices" });
  const element = h("fieldset", { class: "choices" }, h("legend", {}, t.buildTabs.shipped), list);
  const name = freshId("world");
  let chosen = "";
  void get<Worlds>("/worlds")
    .then(({ worlds }) => {
      const shipped = worlds.filter((world) => world.official);
      chosen = shipped[0]?.name ?? "";
      fill(
        list,
        ...shipped.map((world) =>
          h(
            "label",
            { class: "world-choice" },
            h("input", {
              type: "radio",
              name,
              value: world.name,
              checked: world.name === chosen,
              "data-testid": `from-${world.name}`,
              on: { change: () => (chosen = world.name) },
            }),
            h("img", {
              src: `${API}/worlds/${encodeURIComponent(world.name)}/thumbnail.png`,
              alt: "",
              width: 160,
              height: 120,
            }),
            h("span", {}, world.display),
          ),
        ),
      );
    })
    .catch(() => fill(list, h("p", { class: "error" }, t.buildTabs.noWorlds)));
  return { element, chosen: () => chosen };
}

/** Seed and sliders of a random track. */
function randomChoice(): { element: HTMLElement; chosen: () => { seed: number; options: RandomOptions } } {
  const texts = t.buildTabs.random;
  const seed = h("input", {
    type: "number",
    min: 0,
    max: MAX_SEED,
    step: 1,
    required: true,
    "data-testid": "random-seed",
  });
  const another = (): void => {
    seed.value = String(crypto.getRandomValues(new Uint32Array(1))[0] % 100_000);
  };
  another();
  const size = (label: string, value: number, testid: string) =>
    slider({ label, min: 2, max: 30, step: 0.5, value, text: metres, testid });
  const width = size(texts.fieldWidth, 8, "random-field-width");
  const height = size(texts.fieldHeight, 6, "random-field-height");
  const road = slider({
    label: texts.road,
    min: 0.2,
    max: 3,
    step: 0.05,
    value: 0.6,
    text: metres,
    testid: "random-road",
  });
  const percent = (value: number): string => texts.percent(String(Math.round(value * 100)));
  const bends = slider({
    label: texts.tightness,
    min: 0,
    max: 1,
    step: 0.05,
    value: 0.5,
    text: percent,
    testid: "random-tightness",
  });
  // The last position of the slider means a track of any length.
  const most = 101;
  const lengthText = (value: number): string => (value >= most ? texts.anyLength : metres(value));
  const length = slider({
    label: texts.length,
    min: 4,
    max: most,
    step: 1,
    value: most,
    text: lengthText,
    testid: "random-length",
  });
  const dice = h(
    "button",
    { type: "button", class: "plain", "data-testid": "random-dice", on: { click: another } },
    texts.another,
  );
  const parts = [width, height, road, bends, length].map((part) => part.element);
  return {
    element: h(
      "div",
      { class: "form-stack" },
      h("div", { class: "row seed-row" }, field(texts.seed, seed), dice),
      ...parts,
    ),
    chosen: () => ({
      seed: seed.valueAsNumber,
      options: {
        field: [width.value(), height.value()],
        width: road.value(),
        tightness: bends.value(),
        ...(length.value() < most && { length: length.value() }),
      },
    }),
  };
}

/** Opens the dialog. Calls `onCreated` with the id of the new project. */
export function newProjectDialog(client: BuilderClient, onCreated: (id: string) => void): void {
  const texts = t.buildTabs;
  const title = h("input", { type: "text", maxlength: 100, autocomplete: "off", "data-testid": "new-title" });
  const world = worldChoice();
  const random = randomChoice();
  const error = errorLine("new-error");
  const send = h("button", { class: "primary wide", "data-testid": "new-create" }, texts.create);
  let source: Source = "empty";
  const choose = (chosen: Source): void => {
    source = chosen;
    show(world.element, chosen === "world");
    show(random.element, chosen === "random");
  };
  const sources = radios<Source>(
    texts.startFrom,
    [
      ["empty", texts.sources.empty],
      ["world", texts.sources.world],
      ["random", texts.sources.random],
    ],
    source,
    choose,
  );
  choose(source);
  const request = (): NewProject => {
    if (source === "world") return { from: "world", world: world.chosen() };
    if (source === "random") return { from: "random", ...random.chosen() };
    const name = title.value.trim();
    return name === "" ? { from: "empty" } : { from: "empty", name: worldName(name) };
  };
  const form = h(
    "form",
    { class: "form-stack" },
    field(texts.title, title, texts.titleHelp),
    sources,
    world.element,
    random.element,
    error.element,
    send,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void busy(send, error, () => create(client, request(), title.value.trim())).then((view) => {
      if (!view) return;
      element.close();
      onCreated(view.id);
    });
  });
  const element = openDialog({ icon: "worlds", title: texts.newProject, testid: "new-dialog", class: "narrow" }, form);
  title.focus();
}
