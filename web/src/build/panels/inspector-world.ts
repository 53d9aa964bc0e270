/** The inspector without a selection: the world, its field and its track. */
import { t } from "../../strings.ts";
import { h } from "../../ui/dom.ts";
import { icon } from "../../ui/icons.ts";
import { DEFAULTS, isClosed, type Ground, type ProjectDocument } from "../document.ts";
import type { EditorSession } from "../session.ts";
import { reverseTrack, setClosed } from "../track-commands.ts";
import { colourField, numberField, section, selectField, shownIf, textField, toggleField, type FormField } from "./fields.ts";

const text = t.build.inspector;
const metres = { unit: text.metres, step: 0.05 };

export function worldSections(session: EditorSession, pickPicture: () => Promise<string | null>): FormField[] {
  return [nameSection(session), fieldSection(session, pickPicture), trackSection(session)];
}

function nameSection(session: EditorSession): FormField {
  const set = (label: string, change: (draft: ProjectDocument) => void) => {
    session.apply(t.build.steps.field(label), change);
    return null;
  };
  return section(
    text.world,
    [
      textField(session, {
        label: text.name,
        testid: "world-name",
        maxLength: 100,
        read: (document) => document.display_name ?? document.name,
        write: (value) => set(text.name, (draft) => (draft.display_name = value.trim() || draft.name)),
      }),
      textField(session, {
        label: text.fileName,
        testid: "world-file-name",
        maxLength: 64,
        read: (document) => document.name,
        write: (value) =>
          /^[A-Za-z0-9_]{1,64}$/.test(value)
            ? set(text.fileName, (draft) => (draft.name = value))
            : t.build.badWorldName,
      }),
    ],
    "section-world",
  );
}

function fieldSection(session: EditorSession, pickPicture: () => Promise<string | null>): FormField {
  const size = (label: string, axis: 0 | 1, testid: string) =>
    numberField(session, {
      ...metres,
      label,
      testid,
      min: 1,
      max: 100,
      step: 0.5,
      read: (document) => document.field.size[axis],
      write: (draft, value) => (draft.field.size[axis] = value),
    });
  const setGround = (ground: Ground) =>
    session.apply(t.build.steps.field(text.ground), (draft) => (draft.field.ground = ground));
  const ground = selectField({
    label: text.ground,
    testid: "ground",
    choices: text.grounds,
    read: ({ field }) => (typeof field.ground === "object" ? "picture" : (field.ground ?? "carpet")),
    choose: (value) => {
      if (value !== "picture") {
        setGround(value as "carpet" | "grass");
        return;
      }
      void pickPicture().then((picture) => {
        if (picture) setGround({ picture });
        ground.update(session.document.value);
      });
    },
  });
  const hasFence = (document: ProjectDocument) => Boolean(document.fence);
  return section(
    text.field,
    [
      size(text.fieldWidth, 0, "field-width"),
      size(text.fieldHeight, 1, "field-height"),
      ground,
      toggleField(session, {
        label: text.fence,
        testid: "fence",
        read: hasFence,
        write: (draft, on) => {
          if (on) draft.fence = { height: DEFAULTS.fenceHeight, colour: DEFAULTS.fenceColour };
          else delete draft.fence;
        },
      }),
      shownIf(
        numberField(session, {
          ...metres,
          label: text.fenceHeight,
          testid: "fence-height",
          min: 0.2,
          max: 1,
          read: (document) => document.fence?.height ?? DEFAULTS.fenceHeight,
          write: (draft, value) => draft.fence && (draft.fence.height = value),
        }),
        hasFence,
      ),
      shownIf(
        colourField(session, {
          label: text.fenceColour,
          testid: "fence-colour",
          usual: DEFAULTS.fenceColour,
          read: (document) => document.fence?.colour ?? null,
          write: (draft, colour) => draft.fence && (draft.fence.colour = colour ?? DEFAULTS.fenceColour),
        }),
        hasFence,
      ),
    ],
    "section-field",
  );
}

function trackSection(session: EditorSession): FormField {
  const reverse = h(
    "button",
    {
      type: "button",
      class: "plain wide-field",
      "data-testid": "reverse",
      on: {
        click: () =>
          session.apply(t.build.steps.reverse, (draft) => reverseTrack(draft, session.preview.value?.road ?? null)),
      },
    },
    icon("reset"),
    text.reverse,
  );
  return section(
    text.track,
    [
      numberField(session, {
        ...metres,
        label: text.roadWidth,
        testid: "road-width",
        min: 0.2,
        max: 5,
        read: ({ track }) => track.width ?? DEFAULTS.trackWidth,
        write: (draft, value) => (draft.track.width = value),
      }),
      numberField(session, {
        ...metres,
        label: text.start,
        testid: "start",
        min: 0,
        max: 10_000,
        step: 0.1,
        read: ({ track }) => track.start ?? 0,
        write: (draft, value) => (draft.track.start = value),
      }),
      toggleField(session, {
        label: text.closed,
        testid: "closed",
        read: ({ track }) => isClosed(track),
        write: setClosed,
      }),
      reverse,
      toggleField(session, {
        label: text.paintStart,
        testid: "start-line",
        read: ({ track }) => track.start_line ?? true,
        write: (draft, on) => (draft.track.start_line = on),
      }),
      ...lineFields(session),
    ],
    "section-track",
  );
}

function lineFields(session: EditorSession): FormField[] {
  const hasCentre = ({ track }: ProjectDocument) => Boolean(track.centre_line);
  const centre = (key: "width" | "dash" | "gap", label: string, min: number, max: number) =>
    shownIf(
      numberField(session, {
        ...metres,
        label,
        testid: `centre-${key}`,
        min,
        max,
        step: 0.01,
        read: ({ track }) => track.centre_line?.[key] ?? DEFAULTS.centreLine[key],
        write: ({ track }, value) => track.centre_line && (track.centre_line[key] = value),
      }),
      hasCentre,
    );
  return [
    numberField(session, {
      ...metres,
      label: text.outerLine,
      testid: "outer-width",
      min: 0,
      max: 0.2,
      step: 0.01,
      read: ({ track }) => track.outer_line?.width ?? DEFAULTS.outerLine,
      write: ({ track }, value) => (track.outer_line = { ...track.outer_line, width: value }),
    }),
    colourField(session, {
      label: text.outerColour,
      testid: "outer-colour",
      usual: "#f4f4f0",
      read: ({ track }) => track.outer_line?.colour ?? null,
      write: ({ track }, colour) => {
        track.outer_line = { width: DEFAULTS.outerLine, ...track.outer_line };
        if (colour) track.outer_line.colour = colour;
        else delete track.outer_line.colour;
      },
    }),
    toggleField(session, {
      label: text.centreLine,
      testid: "centre-line",
      read: hasCentre,
      write: ({ track }, on) => {
        if (on) track.centre_line = { ...DEFAULTS.centreLine };
        else delete track.centre_line;
      },
    }),
    centre("width", text.centreWidth, 0.005, 0.2),
    centre("dash", text.dash, 0.02, 10),
    centre("gap", text.gap, 0, 10),
    shownIf(
      colourField(session, {
        label: text.centreColour,
        testid: "centre-colour",
        usual: "#f4f4f0",
        read: ({ track }) => track.centre_line?.colour ?? null,
        write: ({ track }, colour) => {
          if (!track.centre_line) return;
          if (colour) track.centre_line.colour = colour;
          else delete track.centre_line.colour;
        },
      }),
      hasCentre,
    ),
  ];
}
