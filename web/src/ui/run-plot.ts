/** A plot of one value over a whole run, with a cursor at the current moment. */
import { onThemeChange } from "../settings.ts";
import { h, write } from "./dom.ts";

/** A value over time. NaN interrupts the line. */
export interface RunLine {
  /** Name of a CSS custom property. */
  colour: string;
  dashed?: boolean;
  valueAt(time: number): number;
}

export interface RunPlot {
  element: HTMLElement;
  /** Replaces the lines. The first one is drawn on top. */
  setLines(lines: readonly RunLine[]): void;
  /** Moves the cursor and shows the value beside the label. */
  setCursor(time: number, value: string): void;
  /** Removes the listeners. Otherwise they would keep the run in memory. */
  dispose(): void;
}

/** Distance of the lines from the edges, in pixels. */
const EDGE_PX = 4;

export function runPlot(options: {
  label: string;
  duration: number;
  /** Colour of the label's mark: name of a CSS custom property. */
  colour: string;
  /** Whether 0 is in the middle. Otherwise it is at the lower edge. */
  signed: boolean;
  /** The value at the upper edge is at least this, so that noise does not fill the plot. */
  minimum: number;
  /** Text of a value on the axis, with its unit. */
  axis(value: number): string;
  testid: string;
  onSeek(time: number): void;
}): RunPlot {
  const { label, duration, signed, minimum, axis } = options;
  const value = h("output", { class: "run-plot-value", "data-testid": options.testid });
  const canvas = h("canvas", { class: "run-plot-canvas", role: "img", "aria-label": label });
  const cursor = h("span", { class: "run-plot-cursor", "aria-hidden": "true" });
  const [high, low] = [h("span"), h("span")];
  const area = h("div", { class: "run-plot-area" }, canvas, cursor);
  // The labels are placed beside the lines, because lines through a label would make it unreadable.
  const row = h("div", { class: "run-plot-row" }, area, h("div", { class: "run-plot-axis" }, high, low));
  const key = h("span", { class: "run-plot-key", style: `--key: var(${options.colour})` });
  const element = h("div", { class: "run-plot" }, h("p", { class: "run-plot-head" }, key, label, value), row);

  let lines: readonly RunLine[] = [];
  const seek = (event: PointerEvent) => {
    const box = area.getBoundingClientRect();
    options.onSeek(duration * Math.min(1, Math.max(0, (event.clientX - box.x) / box.width)));
  };
  area.addEventListener("pointerdown", (event) => {
    area.setPointerCapture(event.pointerId);
    seek(event);
  });
  area.addEventListener("pointermove", (event) => area.hasPointerCapture(event.pointerId) && seek(event));

  function draw(): void {
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const context = canvas.getContext("2d");
    if (width === 0 || !context) return;
    const ratio = Math.min(2, devicePixelRatio);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const columns = lines.map((line) =>
      Float32Array.from({ length: width + 1 }, (_, x) => line.valueAt((x / width) * duration)),
    );
    const top = scaleOf(columns, minimum);
    write(high, axis(top));
    write(low, axis(signed ? -top : 0));
    const y = (v: number) => {
      const part = signed ? (v / top + 1) / 2 : v / top;
      return height - EDGE_PX - (height - 2 * EDGE_PX) * Math.min(1.05, Math.max(-0.05, part));
    };
    context.strokeStyle = colourOf(canvas, "--line");
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(0, Math.round(y(0)) + 0.5);
    context.lineTo(width, Math.round(y(0)) + 0.5);
    context.stroke();
    context.lineJoin = "round";
    for (const [i, line] of [...lines.entries()].reverse()) {
      context.strokeStyle = colourOf(canvas, line.colour);
      context.lineWidth = line.dashed ? 1.25 : 1.75;
      context.setLineDash(line.dashed ? [4, 3] : []);
      context.beginPath();
      let pen = false;
      columns[i].forEach((v, x) => {
        if (Number.isNaN(v)) pen = false;
        else if (pen) context.lineTo(x, y(v));
        else context.moveTo(x, y(v));
        pen = !Number.isNaN(v);
      });
      context.stroke();
    }
  }
  const resized = new ResizeObserver(draw);
  resized.observe(canvas);
  const stopTheme = onThemeChange(draw);
  return {
    element,
    setLines(now) {
      lines = now;
      draw();
    },
    setCursor(time, text) {
      const part = duration > 0 ? time / duration : 0;
      cursor.style.left = `${(100 * Math.min(1, part)).toFixed(2)}%`;
      write(value, text);
    },
    dispose() {
      resized.disconnect();
      stopTheme();
    },
  };
}

/** The value at the upper edge: a round number that is at least as large as every value. */
export function scaleOf(columns: readonly ArrayLike<number>[], minimum: number): number {
  let most = minimum;
  for (const column of columns)
    for (let i = 0; i < column.length; i++) if (Math.abs(column[i]) > most) most = Math.abs(column[i]);
  const step = 10 ** Math.floor(Math.log10(most)) / 5;
  return Math.ceil(most / step - 1e-6) * step;
}

/** Reads a custom property as a plain colour, through the property `color`. */
function colourOf(canvas: HTMLCanvasElement, name: string): string {
  canvas.style.color = `var(${name})`;
  return getComputedStyle(canvas).color;
}
