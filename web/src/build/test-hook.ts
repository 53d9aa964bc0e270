/** State of the editor for tests and benchmarks. */
import type { Signal } from "../ui/signal.ts";
import type { Actions } from "./actions.ts";
import type { Preview } from "./client.ts";
import type { ProjectDocument } from "./document.ts";
import type { Point } from "./geometry.ts";
import { itemOf, type ItemKey } from "./items.ts";
import type { Handle } from "./plan/handles.ts";
import type { PlanView } from "./plan/plan-view.ts";
import type { Previewer } from "./previewer.ts";
import type { EditorSession } from "./session.ts";
import type { SolidView } from "./solid/solid-view.ts";
import type { Sync, SyncStatus } from "./sync.ts";

declare global {
  interface Window {
    __build: {
      /** The commands that buttons and keys use. */
      readonly actions: Actions;
      readonly session: EditorSession;
      readonly document: ProjectDocument;
      readonly preview: Preview | null;
      /** Whether the server has answered the request for the preview of the shown document. */
      readonly isCurrent: boolean;
      readonly status: SyncStatus;
      readonly revision: number;
      readonly selection: readonly ItemKey[];
      readonly scale: number;
      /** Number of frames that the top view and the 3D view have drawn. */
      readonly frames: { plan: number; solid: number };
      /** Position on the page of a point of the field. */
      at(point: Point): Point;
      /** Position on the page of an item. */
      where(key: ItemKey): Point | null;
      /** The handles in the top view, with their positions on the page. */
      handles(): Handle[];
    };
  }
}

export function installTestHook(
  session: EditorSession,
  actions: Actions,
  sync: Sync,
  plan: PlanView,
  solid: Signal<SolidView | null>,
  previewer: Previewer,
): void {
  const onPage = (point: Point): Point => {
    const box = plan.canvas.getBoundingClientRect();
    return { x: box.x + point.x, y: box.y + point.y };
  };
  window.__build = {
    actions,
    session,
    get document() {
      return session.document.value;
    },
    get preview() {
      return session.preview.value;
    },
    get isCurrent() {
      return previewer.isCurrent;
    },
    get status() {
      return sync.status.value;
    },
    get revision() {
      return sync.revision;
    },
    get selection() {
      return [...session.selection.value];
    },
    get scale() {
      return plan.viewport.scale;
    },
    get frames() {
      return { plan: plan.frames, solid: solid.value?.frames ?? 0 };
    },
    at: (point) => onPage(plan.viewport.toScreen(point)),
    where(key) {
      const item = itemOf(session.document.value, key);
      return item && onPage(plan.viewport.toScreen(item.value));
    },
    handles: () => plan.handles.map((handle) => ({ ...handle, ...onPage(handle) })),
  };
}
