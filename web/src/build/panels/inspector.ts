/** The inspector: properties of the selection, or of the world if nothing is selected. */
import { t } from "../../strings.ts";
import { fill, h } from "../../ui/dom.ts";
import type { Actions } from "../actions.ts";
import { itemOf, START } from "../items.ts";
import type { EditorSession } from "../session.ts";
import type { FormField } from "./fields.ts";
import { itemSections, manySection } from "./inspector-items.ts";
import { worldSections } from "./inspector-world.ts";

export type PickPicture = (purpose: "ground" | "decal" | "texture") => Promise<string | null>;

export function inspector(session: EditorSession, actions: Actions, pickPicture: PickPicture): HTMLElement {
  const element = h("div", { class: "inspector", "aria-label": t.build.inspector.label, role: "group", "data-testid": "inspector" });
  let sections: FormField[] = [];
  /** Describes the shown fields. The fields are created again only if this text changes. */
  let shown = "";

  function update(): void {
    const document = session.document.value;
    const keys = [...session.selection.value].filter((key) => key !== START);
    const kinds = keys.map((key) => {
      const item = itemOf(document, key);
      return item?.kind === "object" ? item.value.kind : (item?.kind ?? "");
    });
    const wanted = JSON.stringify([keys, kinds]);
    if (wanted !== shown) {
      shown = wanted;
      if (keys.length === 0) sections = worldSections(session, () => pickPicture("ground"));
      else if (keys.length > 1) sections = [manySection(session, actions)];
      else {
        const purpose = kinds[0] === "decal" ? "decal" : "texture";
        sections = itemSections(session, actions, keys[0], () => pickPicture(purpose));
      }
      fill(element, ...sections.map((section) => section.element));
    }
    for (const section of sections) section.update(document);
  }

  session.selection.watch(update);
  session.document.watch(update);
  return element;
}
