/** The inspector of the selected items. */
import { t } from "../../strings.ts";
import { iconButton } from "../../ui/card.ts";
import { h, write as writeText } from "../../ui/dom.ts";
import { icon, type IconName } from "../../ui/icons.ts";
import { renameObject, type AlignEdge } from "../commands.ts";
import { FACES, KIND_COLOURS, NEW_OBJECT, widthAt, type FieldObject, type ObjectKind, type ProjectDocument } from "../document.ts";
import type { Actions } from "../actions.ts";
import { itemOf, itemsOf, type Item, type ItemKey } from "../items.ts";
import { isValidName } from "../names.ts";
import type { EditorSession } from "../session.ts";
import { setNodeWidth } from "../track-commands.ts";
import { colourField, numberField, section, shownIf, textField, toggleField, type FormField } from "./fields.ts";

const text = t.build.inspector;
const DEGREES = 180 / Math.PI;

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

/** Fields for the position of an item. */
function placeFields(session: EditorSession, key: ItemKey): FormField[] {
  return (["x", "y"] as const).map((axis) =>
    numberField(session, {
      label: text[axis],
      unit: text.metres,
      testid: `item-${axis}`,
      min: -200,
      max: 200,
      step: session.snap.value.step,
      read: (document) => itemOf(document, key)?.value[axis] ?? null,
      write: (draft, value) => {
        const item = itemOf(draft, key);
        if (item) item.value[axis] = value;
      },
    }),
  );
}

function yawField(session: EditorSession, key: ItemKey): FormField {
  return numberField(session, {
    label: text.yaw,
    unit: text.degrees,
    testid: "item-yaw",
    min: -360,
    max: 360,
    step: 5,
    decimals: 2,
    factor: DEGREES,
    read: (document) => yawOf(itemOf(document, key)),
    write: (draft, value) => {
      const item = itemOf(draft, key);
      if (item && item.kind !== "node") item.value.yaw = value;
    },
  });
}

function yawOf(item: Item | null): number | null {
  return item && item.kind !== "node" ? (item.value.yaw ?? 0) : null;
}

/** Buttons that every selection has. */
function commonActions(actions: Actions): HTMLElement {
  return h(
    "div",
    { class: "build-actions" },
    button("copy", text.duplicate, () => actions.duplicate(), "duplicate"),
    button("bin", text.delete, () => actions.remove(), "delete"),
  );
}

function button(name: IconName, label: string, onClick: () => void, testid: string): HTMLButtonElement {
  const shown = label.replace(/ \(.*\)$/, "");
  return h(
    "button",
    { type: "button", class: "plain", title: label, "data-testid": testid, on: { click: onClick } },
    icon(name),
    shown,
  );
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

/** The dimensions of each kind: field, label, limits. */
const DIMENSIONS: Readonly<Record<ObjectKind, readonly (readonly [keyof FieldObject, string, number, number])[]>> = {
  box: [],
  cylinder: [
    ["radius", text.radius, 0.005, 5],
    ["height", text.height, 0.01, 10],
  ],
  sphere: [["radius", text.radius, 0.005, 5]],
  cone: [
    ["base", text.base, 0.01, 5],
    ["height", text.height, 0.01, 10],
  ],
  light: [["width", text.width, 0.05, 2]],
};

function objectOf(document: ProjectDocument, key: ItemKey): FieldObject | null {
  const item = itemOf(document, key);
  return item?.kind === "object" ? item.value : null;
}

function objectSection(session: EditorSession, actions: Actions, key: ItemKey, kind: ObjectKind): FormField {
  const dimension = (name: keyof FieldObject, label: string, min: number, max: number, unit = text.metres, factor = 1) =>
    numberField(session, {
      label,
      unit,
      testid: `object-${name}`,
      min,
      max,
      step: factor === 1 ? 0.01 : 5,
      factor,
      read: (document) => (objectOf(document, key)?.[name] as number | null) ?? (NEW_OBJECT[kind][name as "mass"] as number),
      write: (draft, value) => Object.assign(objectOf(draft, key) ?? {}, { [name]: value }),
    });
  const fields: (FormField | HTMLElement)[] = [
    nameField(session, key),
    ...placeFields(session, key),
    yawField(session, key),
    ...(kind === "box" ? boxFields(session, key) : []),
    ...DIMENSIONS[kind].map(([name, label, min, max]) => dimension(name, label, min, max)),
  ];
  if (kind === "light") {
    fields.push(dimension("tilt", text.tilt, 0, 45, text.degrees, DEGREES));
  } else {
    fields.push(dimension("mass", text.mass, 0.01, 1000, text.kilograms), ...bodyFields(session, key, kind));
  }
  fields.push(commonActions(actions));
  return section(t.selection.kinds[kind], fields, "section-object");
}

function nameField(session: EditorSession, key: ItemKey): FormField {
  return textField(session, {
    label: text.name,
    testid: "object-name",
    maxLength: 64,
    read: (document) => objectOf(document, key)?.name ?? "",
    write: (name) => {
      const before = objectOf(session.document.value, key)?.name;
      if (before === undefined || before === name) return null;
      if (!isValidName(name)) return t.build.badName(name);
      let renamed: ItemKey | null = null;
      session.apply(t.build.steps.rename, (draft) => (renamed = renameObject(draft, key, name)));
      if (renamed === null) return t.build.nameTaken(name);
      session.groups.renamed(before, name);
      session.select([renamed]);
      return null;
    },
  });
}

function boxFields(session: EditorSession, key: ItemKey): FormField[] {
  return [text.length, text.width, text.height].map((label, axis) =>
    numberField(session, {
      label,
      unit: text.metres,
      testid: `object-size-${axis}`,
      min: 0.01,
      max: 10,
      step: 0.01,
      read: (document) => (objectOf(document, key)?.size ?? NEW_OBJECT.box.size)?.[axis] ?? null,
      write: (draft, value) => {
        const object = objectOf(draft, key);
        const [x, y, z] = object?.size ?? NEW_OBJECT.box.size ?? [0.3, 0.2, 0.2];
        const size: [number, number, number] = [x, y, z];
        size[axis] = value;
        if (object) object.size = size;
      },
    }),
  );
}

function bodyFields(session: EditorSession, key: ItemKey, kind: ObjectKind): FormField[] {
  return [
    toggleField(session, {
      label: text.isStatic,
      testid: "object-static",
      read: (document) => objectOf(document, key)?.static ?? false,
      write: (draft, on) => Object.assign(objectOf(draft, key) ?? {}, { static: on }),
    }),
    colourField(session, {
      label: text.colour,
      testid: "object-colour",
      usual: KIND_COLOURS[kind],
      read: (document) => objectOf(document, key)?.colour ?? null,
      write: (draft, colour) => {
        const object = objectOf(draft, key);
        if (!object) return;
        if (colour) object.colour = colour;
        else delete object.colour;
      },
    }),
  ];
}

/** A field with the name of a picture, and buttons to choose and remove it. */
function pictureField(
  label: string,
  testid: string,
  pickPicture: Pick,
  change: (picture: string) => void,
  remove: (() => void) | null,
): { element: HTMLElement; show(picture: string | null): void } {
  const name = h("span", { class: "picture-name mono" });
  const choose = iconButton("picture", `${label}: ${text.choose}`, () => {
    void pickPicture().then((picture) => picture && change(picture));
  }, testid);
  const bin = iconButton("bin", `${label}: ${text.remove}`, () => remove?.(), `${testid}-remove`);
  const element = h("div", { class: "build-field wide-field picture-field" }, h("span", {}, label), name, choose, bin);
  const show = (picture: string | null) => {
    writeText(name, picture ?? t.units.none);
    bin.hidden = remove === null || picture === null;
  };
  return { element, show };
}

function faceSection(session: EditorSession, key: ItemKey, kind: ObjectKind, pickPicture: Pick): FormField {
  const fields = FACES[kind].map((face): FormField => {
    const label = text.faces[face as keyof typeof text.faces];
    const set = (picture: string | null) =>
      session.apply(t.build.steps.field(label), (draft) => {
        const object = objectOf(draft, key);
        if (!object) return;
        const textures = { ...object.textures };
        if (picture) textures[face] = picture;
        else delete textures[face];
        if (Object.keys(textures).length > 0) object.textures = textures;
        else delete object.textures;
      });
    const field = pictureField(label, `face-${face}`, pickPicture, set, () => set(null));
    return { element: field.element, update: (document) => field.show(objectOf(document, key)?.textures?.[face] ?? null) };
  });
  return section(text.pictures, fields, "section-faces");
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
