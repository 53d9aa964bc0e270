/** A line plot of values over time, on a canvas, with axes. */
import { t } from "../strings.ts";
import { h, write } from "./dom.ts";

export interface Series {
  /** Name of a CSS custom property. */
  colour: string;
  /** Value at the upper edge. The lower edge is `-max` if signed, otherwise 0. */
  max: number;
  signed: boolean;
  values: readonly { time: number; value: number }[];
}

/** A plot with one axis at each side and the time below. */
export interface PlotBox {
  element: HTMLElement;
  canvas: HTMLCanvasElement;
  /**
   * Sets the values at the upper edge, as texts with units. The lower edge shows the negative
   * values.
   */
  setScales(left: string, right: string): void;
}

/**
 * A canvas for `plot`, with axes for two signed series. `keys` are CSS classes that give the axis
 * labels the colour of the series.
 */
export function plotBox(label: string, seconds: number, keys: { left: string; right: string }): PlotBox {
  const canvas = h("canvas", { class: "plot", role: "img", "aria-label": label });
  const axis = (key: string) => ["", "0", ""].map((text) => h("span", { class: key }, text));
  const [left, right] = [axis(keys.left), axis(keys.right)];
  const times = [1, 0.5, 0].map((part) =>
    h("span", {}, part === 0 ? t.axes.now : t.axes.seconds(t.axes.minus(String(part * seconds)))),
  );
  return {
    element: h(
      "div",
      { class: "plot-box" },
      h("div", { class: "plot-axis" }, ...left),
      canvas,
      h("div", { class: "plot-axis" }, ...right),
      h("div", { class: "plot-time" }, ...times),
    ),
    canvas,
    setScales(leftMax, rightMax) {
      write(left[0], leftMax);
      write(left[2], t.axes.minus(leftMax));
      write(right[0], rightMax);
      write(right[2], t.axes.minus(rightMax));
    },
  };
}

/** Draws the last `seconds` of all series. */
export function plot(canvas: HTMLCanvasElement, series: readonly Series[], now: number, seconds: number): void {
  const ratio = Math.min(2, devicePixelRatio);
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (width === 0) return;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  if (!context) return;
  // `getComputedStyle` resolves a custom property to a plain colour only through the property
  // `color`.
  const colourOf = (name: string) => {
    canvas.style.color = `var(${name})`;
    return getComputedStyle(canvas).color;
  };
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.strokeStyle = colourOf("--line");
  context.lineWidth = 1;
  context.beginPath();
  for (let s = 5; s < seconds; s += 5) {
    const x = Math.round(width * (1 - s / seconds)) + 0.5;
    context.moveTo(x, 0);
    context.lineTo(x, height);
  }
  const middle = Math.round(height / 2) + 0.5;
  context.moveTo(0, middle);
  context.lineTo(width, middle);
  context.stroke();
  context.lineWidth = 1.75;
  context.lineJoin = "round";
  for (const { colour, max, signed, values } of series) {
    context.strokeStyle = colourOf(colour);
    context.beginPath();
    let pen = false;
    for (const { time, value } of values) {
      if (time < now - seconds) continue;
      const x = width * (1 - (now - time) / seconds);
      const part = signed ? (value / max + 1) / 2 : value / max;
      const y = height - 2 - (height - 4) * Math.min(1, Math.max(0, part));
      if (pen) context.lineTo(x, y);
      else context.moveTo(x, y);
      pen = true;
    }
    context.stroke();
  }
}
