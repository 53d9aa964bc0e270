// @ts-check
/** Compares two images of the same view. */

/** @import { ReferenceImage, RenderedImage } from "./types.d.ts" */

/** A label is only compared if it has at least this many pixels, on average over both images. */
const MIN_LABEL_PIXELS = 200;
/**
 * A pixel has a different colour if any of its channels differs by more than this. Channels have
 * values from 0 to 255.
 */
const COLOUR_TOLERANCE = 40;

/**
 * Computes the overlap of two areas. `exact` is the number of pixels in both areas, divided by the
 * number of pixels in at least one of them. For `tolerant`, a pixel of one area also counts as
 * common if one of its neighbours is in the other area, so that edges may differ by one pixel.
 * @param {(i: number) => boolean} inOurs
 * @param {(i: number) => boolean} inTheirs
 * @param {number} width
 * @param {number} height
 */
function overlap(inOurs, inTheirs, width, height) {
  const near = (/** @type {(i: number) => boolean} */ shown, /** @type {number} */ x, /** @type {number} */ y) => {
    for (let v = Math.max(0, y - 1); v <= Math.min(height - 1, y + 1); v++) {
      for (let u = Math.max(0, x - 1); u <= Math.min(width - 1, x + 1); u++) {
        if (shown(v * width + u)) {
          return true;
        }
      }
    }
    return false;
  };
  let [either, off, exactly] = [0, 0, 0];
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      const [a, b] = [inOurs(i), inTheirs(i)];
      either += a || b ? 1 : 0;
      exactly += a && b ? 1 : 0;
      off += (a && !b && !near(inTheirs, x, y)) || (b && !a && !near(inOurs, x, y)) ? 1 : 0;
    }
  }
  return { tolerant: 1 - off / Math.max(1, either), exact: exactly / Math.max(1, either) };
}

/**
 * Compares the labels and colours of two images. `labels` is the number of compared labels.
 * `covered` is the overlap of the areas that have any label, and `worst` is the smallest overlap of
 * one label. `mean` is the mean difference of the colour channels, and `other` is the share of
 * pixels with a different colour. Both are computed from the pixels that have a label in both
 * images and show no sky.
 * @param {RenderedImage} ours
 * @param {ReferenceImage} theirs
 * @param {number} width
 * @param {number} height
 */
export function compare(ours, theirs, width, height) {
  const count = new Map();
  for (const list of [ours.labels, theirs.labels]) {
    for (const label of list) {
      count.set(label, (count.get(label) ?? 0) + 1);
    }
  }
  const labels = [...count.keys()].filter((l) => l !== 0 && count.get(l) >= 2 * MIN_LABEL_PIXELS);
  const covered = overlap((i) => ours.labels[i] !== 0, (i) => theirs.labels[i] !== 0, width, height);
  let worst = { label: 0, ...covered };
  for (const label of labels) {
    const of = overlap((i) => ours.labels[i] === label, (i) => theirs.labels[i] === label, width, height);
    if (of.tolerant < worst.tolerant || (of.tolerant === worst.tolerant && of.exact < worst.exact)) {
      worst = { label, ...of };
    }
  }
  let [pixels, sum, other] = [0, 0, 0];
  for (let i = 0; i < width * height; i++) {
    if (ours.labels[i] === 0 || theirs.labels[i] === 0 || !theirs.whole[i]) {
      continue;
    }
    let most = 0;
    for (let c = 3 * i; c < 3 * i + 3; c++) {
      const off = Math.abs(ours.rgb[c] - theirs.rgb[c]);
      sum += off;
      most = Math.max(most, off);
    }
    pixels++;
    other += most > COLOUR_TOLERANCE ? 1 : 0;
  }
  return {
    labels: labels.length,
    covered: covered.tolerant,
    worst,
    mean: sum / Math.max(1, 3 * pixels),
    other: other / Math.max(1, pixels),
  };
}
