/** The inspector of a selected object: name, place, dimensions, body and pictures. */
import { t } from "../../strings.ts";
import { iconButton } from "../../ui/card.ts";
import { h, write as writeText } from "../../ui/dom.ts";
import type { Actions } from "../actions.ts";
import { renameObject } from "../commands.ts";
import { FACES, KIND_COLOURS, NEW_OBJECT, type FieldObject, type ObjectKind, type ProjectDocument } from "../document.ts";
import { itemOf, type ItemKey } from "../items.ts";
import { isValidName } from "../names.ts";
import type { EditorSession } from "../session.ts";
import { colourField, numberField, section, textField, toggleField, type FormField } from "./fields.ts";
import { commonActions, DEGREES, placeFields, yawField } from "./inspector-shared.ts";

const text = t.build.inspector;

type Pick = () => Promise<string | null>;

/** The dimensions of each kind: field, label, lower limit and upper limit in metres. */
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

export function objectSection(session: EditorSession, actions: Actions, key: ItemKey, kind: ObjectKind): FormField {
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
export function pictureField(
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

export function faceSection(session: EditorSession, key: ItemKey, kind: ObjectKind, pickPicture: Pick): FormField {
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
