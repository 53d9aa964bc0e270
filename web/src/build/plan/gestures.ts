/**
 * Mouse, pen and touch in the top view. One finger on the empty field moves the view. While the
 * user adds items to the selection (`adding`), the finger selects with a rectangle instead. Two
 * fingers move and zoom the view. Mouse and pen select with a rectangle. They move the view with
 * the middle button, while Space is held, or with the pan tool.
 */
import { t } from "../../strings.ts";
import { preventFling } from "../../ui/fling.ts";
import { distance, type Point } from "../geometry.ts";
import type { ItemKey } from "../items.ts";
import { alongOf } from "../road-line.ts";
import { drawTrack, insertIndex, insertNode, placeOnRoad } from "../track-commands.ts";
import { nodeKey } from "../items.ts";
import { snap } from "../snapping.ts";
import { bandDrag, handleDrag, moveDrag, snapTargets, type Drag } from "./drags.ts";
import { hitTest, type Hit, type PointerKind } from "./hit.ts";
import type { PlanView } from "./plan-view.ts";

/** A press that moves at most this far, in pixels, is a click. */
const CLICK_PX = { mouse: 3, touch: 9 };
/** A click this close to the first point, in pixels, closes the line. */
const CLOSE_PX = 16;

interface Press {
  id: number;
  from: Point;
  pointer: PointerKind;
  /** What was pressed; null with the middle button, Space or the pan tool, which move the view. */
  hit: Hit | null;
  isDrag: boolean;
}

export class Gestures {
  readonly #fingers = new Map<number, Point>();
  #press: Press | null = null;
  #last: Point = { x: 0, y: 0 };
  #isSpaceHeld = false;

  constructor(readonly view: PlanView) {
    const { canvas } = view;
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#up(event));
    canvas.addEventListener("pointercancel", (event) => this.#cancelled(event));
    canvas.addEventListener("pointerleave", () => {
      view.pointer = null;
      view.invalidate();
    });
    preventFling(canvas);
    canvas.addEventListener("dblclick", (event) => this.#doubleClick(event));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    addEventListener("keydown", (event) => event.key === " " && this.#holdSpace(true));
    addEventListener("keyup", (event) => event.key === " " && this.#holdSpace(false));
    addEventListener("blur", () => this.#holdSpace(false));
  }

  /** Cancels a drag and reverts what the drag has changed. Returns whether there was a drag. */
  cancel(): boolean {
    const { drag } = this.view;
    this.view.drag = null;
    this.#press = null;
    drag?.cancel();
    this.view.invalidate();
    return drag !== null;
  }

  get #session() {
    return this.view.session;
  }

  #holdSpace(isHeld: boolean): void {
    this.#isSpaceHeld = isHeld;
    this.view.canvas.dataset["pan"] = String(isHeld || this.#session.tool.value === "pan");
  }

  #kind(event: PointerEvent): PointerKind {
    return event.pointerType === "touch" ? "touch" : "mouse";
  }

  #down(event: PointerEvent): void {
    const at = this.view.local(event);
    this.view.canvas.focus({ preventScroll: true });
    this.view.canvas.setPointerCapture(event.pointerId);
    this.#last = at;
    if (event.pointerType === "touch") {
      this.#fingers.set(event.pointerId, at);
      if (this.#fingers.size > 1) {
        this.cancel();
        return;
      }
    }
    if (event.button === 2 || this.#press) return;
    const pans = event.button === 1 || this.#isSpaceHeld || this.#session.tool.value === "pan";
    const pointer = this.#kind(event);
    const hit = pans ? null : this.#hit(at, pointer);
    this.#press = { id: event.pointerId, from: at, pointer, hit, isDrag: false };
    this.#session.commit();
  }

  #hit(at: Point, pointer: PointerKind): Hit {
    return hitTest(this.#session.document.value, this.view.handles, this.view.viewport, at, pointer);
  }

  #move(event: PointerEvent): void {
    const at = this.view.local(event);
    this.view.pointer = this.view.viewport.toWorld(at);
    this.view.invalidate();
    if (this.#fingers.has(event.pointerId)) {
      if (this.#fingers.size > 1) {
        this.#pinch(event.pointerId, at);
        return;
      }
      this.#fingers.set(event.pointerId, at);
    }
    const press = this.#press;
    if (!press || press.id !== event.pointerId) {
      this.#hover(at, event);
      return;
    }
    if (!press.isDrag && distance(press.from, at) > CLICK_PX[press.pointer]) {
      press.isDrag = true;
      this.view.drag = this.#startDrag(press, event.shiftKey);
    }
    if (press.isDrag && !this.view.drag) this.view.panBy(at.x - this.#last.x, at.y - this.#last.y);
    this.view.drag?.move(this.view.pointer, { shift: event.shiftKey, alt: event.altKey });
    this.#last = at;
  }

  /** Sets the cursor to show what a press would do. */
  #hover(at: Point, event: PointerEvent): void {
    if (this.#session.tool.value !== "select") return;
    const hit = this.#hit(at, this.#kind(event));
    const cursors = { rotate: "grab", scale: "nwse-resize", width: "ew-resize", start: "grab", insert: "copy" };
    this.view.canvas.style.cursor =
      hit.kind === "item" ? "move" : hit.kind === "handle" ? cursors[hit.handle.kind] : "default";
  }

  #startDrag(press: Press, shift: boolean): Drag | null {
    const { viewport } = this.view;
    const from = viewport.toWorld(press.from);
    if (!press.hit || this.#session.pen.value || this.#session.tool.value === "pen") return null;
    if (press.hit.kind === "handle") return handleDrag(this.#session, viewport, press.hit.handle, from);
    if (press.hit.kind === "item") {
      this.#ensureSelected(press.hit.key, shift);
      return moveDrag(this.#session, viewport, from, press.hit.key);
    }
    if (press.pointer === "touch" && !this.#session.adding.value) return null;
    return bandDrag(this.#session, from, shift || this.#session.adding.value);
  }

  #ensureSelected(key: ItemKey, add: boolean): void {
    if (this.#session.selection.value.has(key)) return;
    if (add || this.#session.adding.value) this.#session.select([key], "toggle");
    else this.#session.select([key]);
  }

  #up(event: PointerEvent): void {
    const wasPinch = this.#fingers.size > 1;
    this.#fingers.delete(event.pointerId);
    const press = this.#press;
    if (wasPinch || !press || press.id !== event.pointerId) return;
    this.#press = null;
    const { drag } = this.view;
    this.view.drag = null;
    if (press.isDrag) drag?.end();
    else this.#click(press, event);
    this.view.invalidate();
  }

  #cancelled(event: PointerEvent): void {
    this.#fingers.delete(event.pointerId);
    if (this.#press?.id === event.pointerId) this.cancel();
  }

  #click(press: Press, event: PointerEvent): void {
    if (!press.hit) return;
    if (this.#session.tool.value === "pen") {
      this.#addPoint(press.from);
      return;
    }
    const { hit } = press;
    if (hit.kind === "handle") {
      // A click on one of these handles, without a drag, inserts a node or selects the start line.
      if (hit.handle.kind === "insert" || hit.handle.kind === "start") {
        handleDrag(this.#session, this.view.viewport, hit.handle, this.view.viewport.toWorld(press.from))?.end();
      }
      return;
    }
    const adds = event.shiftKey || event.ctrlKey || event.metaKey || this.#session.adding.value;
    if (hit.kind === "item") this.#session.select([hit.key], adds ? "toggle" : "replace");
    else if (!adds) this.#session.select([]);
  }

  /** Adds a point of a new line. A click on the first point closes the line. */
  #addPoint(at: Point): void {
    const { viewport } = this.view;
    const points = this.#session.pen.value ?? [];
    if (points.length >= 3 && distance(viewport.toScreen(points[0]), at) <= CLOSE_PX) {
      this.finishLine(true);
      return;
    }
    const settings = { ...this.#session.snap.value, road: false };
    const to = snap(viewport.toWorld(at), null, snapTargets(this.#session, new Set()), settings, viewport.metres(8));
    // The second click of a double click is at the same place, so it adds no point.
    const last = points[points.length - 1];
    if (last && distance(viewport.toScreen(last), viewport.toScreen(to)) < 4) return;
    this.#session.pen.value = [...points, { x: to.x, y: to.y }];
  }

  /**
   * Ends a line that is being drawn, and replaces the track by it. If the line has too few points,
   * shows a message, and the user can continue the line.
   */
  finishLine(closed: boolean): void {
    const points = this.#session.pen.value ?? [];
    let isDrawn = false;
    this.#session.apply(t.build.steps.draw, (draft) => {
      isDrawn = drawTrack(draft, points, closed);
    });
    if (!isDrawn) {
      this.#session.say(t.build.tooFewPoints);
      return;
    }
    this.#session.pen.value = null;
    this.#session.tool.value = "select";
  }

  #doubleClick(event: MouseEvent): void {
    if (this.#session.tool.value === "pen") {
      this.finishLine(false);
      return;
    }
    const road = this.#session.preview.value?.road;
    const at = this.view.viewport.toWorld(this.view.local(event));
    const place = road && placeOnRoad(road, at);
    if (!road || !place || this.#hit(this.view.local(event), "mouse").kind !== "none") return;
    if (place.distance > Math.max(0.1, (road.centre[Math.floor(place.at)]?.[2] ?? 0.5) / 2)) return;
    const index = insertIndex(this.#session.document.value.track, road, alongOf(road, place));
    this.#session.applyAndSelect(t.build.steps.insert, (draft) =>
      insertNode(draft, index, place) === null ? [] : [nodeKey(index)],
    );
  }

  /** Moves and zooms the view with two fingers. */
  #pinch(id: number, at: Point): void {
    const others = [...this.#fingers].filter(([other]) => other !== id).map(([, point]) => point);
    const before = this.#fingers.get(id);
    const [other] = others;
    this.#fingers.set(id, at);
    if (!before || !other) return;
    const middle = (a: Point) => ({ x: (a.x + other.x) / 2, y: (a.y + other.y) / 2 });
    const [from, to] = [middle(before), middle(at)];
    this.view.panBy(to.x - from.x, to.y - from.y);
    this.view.zoom(distance(at, other) / Math.max(1, distance(before, other)), to);
  }

  #wheel(event: WheelEvent): void {
    event.preventDefault();
    // A trackpad sends horizontal scroll steps for a pan, and sets Ctrl for a pinch.
    if (event.shiftKey || (event.deltaX !== 0 && !event.ctrlKey)) {
      this.view.panBy(-event.deltaX - (event.shiftKey ? event.deltaY : 0), event.shiftKey ? 0 : -event.deltaY);
      return;
    }
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    this.view.zoom(Math.exp(-0.0016 * lines * event.deltaY), this.view.local(event));
  }
}
