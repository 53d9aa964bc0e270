/** The inspector of the selected items. */
import { t } from "../../strings.ts";
import { iconButton } from "../../ui/card.ts";
import { h } from "../../ui/dom.ts";
import type { IconName } from "../../ui/icons.ts";
import type { Actions } from "../actions.ts";
import type { AlignEdge } from "../commands.ts";
import { FACES, widthAt, type ProjectDocument } from "../document.ts";
import { itemOf, itemsOf, type ItemKey } from "../items.ts";
import type { EditorSession } from "../session.ts";
import { setNodeWidth } from "../track-commands.ts";
import { numberField, section, shownIf, toggleField, type FormField } from "./fields.ts";
import { button, commonActions, placeFields, yawField } from "./inspector-shared.ts";
import { faceSection, objectSection, pictureField } from "./inspector-object.ts";

const text = t.build.inspector;

type Pick = () => Promise<string | null>;

/** The sections for one selected item. */
export function itemSections(session: EditorSession, actions: Actions, key: ItemKey, pickPicture: Pick): FormField[] {
  const item = itemOf(session.document.value, key);
  if (!item) return [];
  if (item.kind === "node") return [nodeSection(session, actions, key)];
  if (item.kind === "decal") return [decalSection(session, actions, key, pickPicture)];
  const sections = [objectSection(session, actions, key, item.value.kind)];
  if (FACES[item.value.kind].length > 0) sections.push(faceSection(session, key, item.value.kind, pickPicture));
  return sections;
}

function nodeSection(session: EditorSession, actions: Actions, key: ItemKey): FormField {
  const nodeOf = (document: ProjectDocument) => {
    const item = itemOf(document, key);
    return item?.kind === "node" ? item : null;
  };
  const hasWidth = (document: ProjectDocument) => typeof nodeOf(document)?.value.width === "number";
  const index = nodeOf(session.document.value)?.index ?? 0;
  return section(
    t.build.node(index),
    [
      ...placeFields(session, key),
      toggleField(session, {
        label: text.ownWidth,
        testid: "node-own-width",
        read: hasWidth,
        write: (draft, on) => {
          const node = nodeOf(draft);
          if (node) setNodeWidth(draft, node.index, on ? widthAt(draft.track, node.value) : null);
        },
      }),
      shownIf(
        numberField(session, {
          label: text.width,
          unit: text.metres,
          testid: "node-width",
          min: 0.2,
          max: 5,
          step: 0.05,
          read: (document) => nodeOf(document)?.value.width ?? null,
          write: (draft, value) => setNodeWidth(draft, nodeOf(draft)?.index ?? -1, value),
        }),
        hasWidth,
      ),
      commonActions(actions),
    ],
    "section-node",
  );
}

function decalSection(session: EditorSession, actions: Actions, key: ItemKey, pickPicture: Pick): FormField {
  const decalOf = (document: ProjectDocument) => {
    const item = itemOf(document, key);
    return item?.kind === "decal" ? item.value : null;
  };
  const size = (label: string, side: "width" | "height") =>
    numberField(session, {
      label,
      unit: text.metres,
      testid: `decal-${side}`,
      min: 0.01,
      max: 100,
      step: 0.05,
      read: (document) => decalOf(document)?.[side] ?? null,
      write: (draft, value) => {
        const decal = decalOf(draft);
        if (decal) decal[side] = value;
      },
    });
  const change = (picture: string) =>
    session.apply(t.build.steps.field(text.picture), (draft) => {
      const decal = decalOf(draft);
      if (decal) decal.picture = picture;
    });
  const file = pictureField(text.picture, "decal-picture", pickPicture, change, null);
  const index = itemOf(session.document.value, key)?.index ?? 0;
  return section(
    t.build.decal(index),
    [
      { element: file.element, update: (document) => file.show(decalOf(document)?.picture ?? null) },
      ...placeFields(session, key),
      size(text.width, "width"),
      size(text.height, "height"),
      yawField(session, key),
      h(
        "div",
        { class: "build-actions" },
        button("frameAhead", text.layerUp, () => actions.shiftLayer(1), "layer-up"),
        button("frameBack", text.layerDown, () => actions.shiftLayer(-1), "layer-down"),
      ),
      commonActions(actions),
    ],
    "section-decal",
  );
}

const ALIGN_ICONS: Readonly<Record<AlignEdge, IconName>> = {
  left: "alignLeft",
  centre: "alignCentre",
  right: "alignRight",
  top: "alignTop",
  middle: "alignMiddle",
  bottom: "alignBottom",
};

/** The section for several selected items. */
export function manySection(session: EditorSession, actions: Actions): FormField {
  const align = (Object.keys(ALIGN_ICONS) as AlignEdge[]).map((edge) =>
    iconButton(ALIGN_ICONS[edge], text.edges[edge], () => actions.align(edge), `align-${edge}`),
  );
  const spread = [
    iconButton("distributeX", text.distributeX, () => actions.distribute("x"), "distribute-x"),
    iconButton("distributeY", text.distributeY, () => actions.distribute("y"), "distribute-y"),
  ];
  const { selection, document } = session;
  const isObjects = itemsOf(document.value, selection.value).some(({ kind }) => kind === "object");
  const groups = isObjects && [
    h(
      "div",
      { class: "build-actions" },
      button("group", text.group, () => actions.group(), "group"),
      button("close", text.ungroup, () => actions.ungroup(), "ungroup"),
    ),
  ];
  return section(
    t.build.selected(selection.value.size),
    [h("div", { class: "build-icons" }, ...align, ...spread), ...(groups || []), commonActions(actions)],
    "section-many",
  );
}
