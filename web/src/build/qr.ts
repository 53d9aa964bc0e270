/**
 * QR codes by ISO/IEC 18004, for the links of published worlds: bytes of UTF-8, error correction
 * level M, versions 1 to 10. The longest link that fits has 213 bytes.
 */

/**
 * A QR code: rows of modules, which are the squares of the code. The value of a dark module is
 * true.
 */
export interface QrCode {
  size: number;
  mask: number;
  modules: boolean[][];
}

/**
 * Number of error correction codewords of each block, and number of blocks, by version (level M).
 * There is no version 0.
 */
const CORRECTION = [0, 10, 16, 26, 18, 24, 16, 18, 22, 22, 26];
const BLOCKS = [0, 1, 1, 1, 2, 2, 4, 4, 4, 5, 5];
const MAX_VERSION = 10;
const MASKS = 8;

/** Whether a mask inverts the module in this column and row. */
const MASK_RULES: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/** Number of codewords, data and error correction together. */
function totalCodewords(version: number): number {
  const alignments = version === 1 ? 0 : Math.floor(version / 7) + 2;
  let modules = (16 * version + 128) * version + 64;
  if (version > 1) modules -= (25 * alignments - 10) * alignments - 55;
  if (version >= 7) modules -= 36;
  return Math.floor(modules / 8);
}

function dataCodewords(version: number): number {
  return totalCodewords(version) - CORRECTION[version] * BLOCKS[version];
}

/** Product in the finite field of 256 elements with the polynomial x⁸ + x⁴ + x³ + x² + 1. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= ((b >>> bit) & 1) * a;
  }
  return product;
}

/**
 * The error correction codewords of a block: the remainder of the division by the generator
 * polynomial.
 */
export function correction(data: readonly number[], count: number): number[] {
  const generator = new Array<number>(count).fill(0);
  generator[count - 1] = 1;
  let root = 1;
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < count; j++) {
      generator[j] = multiply(generator[j], root) ^ (generator[j + 1] ?? 0);
    }
    root = multiply(root, 2);
  }
  const rest = new Array<number>(count).fill(0);
  for (const byte of data) {
    const factor = byte ^ (rest.shift() ?? 0);
    rest.push(0);
    generator.forEach((coefficient, i) => (rest[i] ^= multiply(coefficient, factor)));
  }
  return rest;
}

/** The smallest version that holds the bytes; null if none does. */
function versionFor(bytes: number): number | null {
  for (let version = 1; version <= MAX_VERSION; version++) {
    if (4 + lengthBits(version) + 8 * bytes <= 8 * dataCodewords(version)) return version;
  }
  return null;
}

function lengthBits(version: number): number {
  return version < 10 ? 8 : 16;
}

/** Returns the data codewords: mode, length, bytes and padding. */
function dataOf(bytes: Uint8Array, version: number): number[] {
  const bits: number[] = [];
  const append = (value: number, count: number): void => {
    for (let bit = count - 1; bit >= 0; bit--) bits.push((value >>> bit) & 1);
  };
  append(0b0100, 4);
  append(bytes.length, lengthBits(version));
  for (const byte of bytes) append(byte, 8);
  const room = 8 * dataCodewords(version);
  append(0, Math.min(4, room - bits.length));
  append(0, (8 - (bits.length % 8)) % 8);
  for (let pad = 0xec; bits.length < room; pad ^= 0xec ^ 0x11) append(pad, 8);
  return Array.from({ length: room / 8 }, (_, i) =>
    bits.slice(8 * i, 8 * i + 8).reduce((sum, bit) => 2 * sum + bit, 0),
  );
}

/** Splits the data into blocks, and takes one codeword of each block in turn. */
function interleave(data: readonly number[], version: number): number[] {
  const count = BLOCKS[version];
  const short = Math.floor(data.length / count);
  const longBlocks = data.length % count;
  const blocks: number[][] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    const length = short + (i >= count - longBlocks ? 1 : 0);
    blocks.push(data.slice(at, at + length));
    at += length;
  }
  const checks = blocks.map((block) => correction(block, CORRECTION[version]));
  const turn = (lists: readonly number[][], length: number): number[] =>
    Array.from({ length }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
  return [...turn(blocks, short + 1), ...turn(checks, CORRECTION[version])];
}

/** Centres of the alignment patterns along one side. */
function alignments(version: number): number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const last = 4 * version + 10;
  const step = count === 2 ? last - 6 : 2 * Math.ceil((last - 6) / (2 * (count - 1)));
  return [6, ...Array.from({ length: count - 1 }, (_, i) => last - step * (count - 2 - i))];
}

/** A value, followed by the remainder of its division by a polynomial. */
function withRemainder(value: number, polynomial: number, bits: number): number {
  let rest = value;
  for (let i = 0; i < bits; i++) rest = (rest << 1) ^ ((rest >>> (bits - 1)) * polynomial);
  return (value << bits) | rest;
}

/** The 15 bits that encode level M and the mask. */
export function formatBits(mask: number): number {
  return withRemainder(mask, 0x537, 10) ^ 0x5412;
}

/** The 18 bits that encode a version from 7 on. */
export function versionBits(version: number): number {
  return withRemainder(version, 0x1f25, 12);
}

/** A code that is being drawn. `fixed` marks modules that do not contain data. */
class Drawing {
  readonly size: number;
  readonly modules: boolean[][];
  readonly fixed: boolean[][];

  constructor(readonly version: number) {
    this.size = 4 * version + 17;
    const empty = (): boolean[][] => Array.from({ length: this.size }, () => new Array<boolean>(this.size).fill(false));
    this.modules = empty();
    this.fixed = empty();
    this.#patterns();
    this.format(0);
  }

  #set(x: number, y: number, isDark: boolean): void {
    this.modules[y][x] = isDark;
    this.fixed[y][x] = true;
  }

  #patterns(): void {
    const last = this.size - 1;
    for (let i = 0; i < this.size; i++) {
      this.#set(6, i, i % 2 === 0);
      this.#set(i, 6, i % 2 === 0);
    }
    for (const [x, y] of [
      [3, 3],
      [last - 3, 3],
      [3, last - 3],
    ])
      this.#finder(x, y);
    const centres = alignments(this.version);
    for (const x of centres) {
      for (const y of centres) {
        // These three corners have a finder pattern and no alignment pattern.
        const isCorner = (x === 6 && (y === 6 || y === last - 6)) || (y === 6 && x === last - 6);
        if (!isCorner) this.#square(x, y, 2, (distance) => distance !== 1);
      }
    }
    if (this.version < 7) return;
    const bits = versionBits(this.version);
    for (let i = 0; i < 18; i++) {
      const [along, across] = [Math.floor(i / 3), this.size - 11 + (i % 3)];
      const isDark = ((bits >>> i) & 1) === 1;
      this.#set(across, along, isDark);
      this.#set(along, across, isDark);
    }
  }

  #finder(x: number, y: number): void {
    this.#square(x, y, 4, (distance) => distance !== 2 && distance !== 4);
  }

  /** Draws rings around a centre. Modules outside the code are skipped. */
  #square(x: number, y: number, radius: number, isDark: (distance: number) => boolean): void {
    for (let dy = -radius; dy <= radius; dy++) {
      for (let dx = -radius; dx <= radius; dx++) {
        const isInside = Math.min(x + dx, y + dy) >= 0 && Math.max(x + dx, y + dy) < this.size;
        if (isInside) this.#set(x + dx, y + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))));
      }
    }
  }

  /** Writes both copies of the bits that encode the level and the mask. */
  format(mask: number): void {
    const bits = formatBits(mask);
    const bit = (i: number): boolean => ((bits >>> i) & 1) === 1;
    const { size } = this;
    for (let i = 0; i < 15; i++) {
      // The first copy is around the finder pattern at the top left and leaves out the timing
      // patterns. The second copy is beside the two other finder patterns.
      if (i < 8) this.#set(8, i < 6 ? i : i + 1, bit(i));
      else this.#set(i === 8 ? 7 : 14 - i, 8, bit(i));
      if (i < 8) this.#set(size - 1 - i, 8, bit(i));
      else this.#set(8, size - 15 + i, bit(i));
    }
    this.#set(8, size - 8, true);
  }

  /** Writes the codewords in columns of two modules, upwards and downwards in turn. */
  data(codewords: readonly number[]): void {
    let at = 0;
    let isUpward = true;
    for (let right = this.size - 1; right > 0; right -= 2) {
      // Column 6 has the timing pattern, so it is skipped.
      if (right === 6) right = 5;
      for (let i = 0; i < this.size; i++) {
        const y = isUpward ? this.size - 1 - i : i;
        for (const x of [right, right - 1]) {
          if (this.fixed[y][x]) continue;
          this.modules[y][x] = (((codewords[at >>> 3] ?? 0) >>> (7 - (at & 7))) & 1) === 1;
          at++;
        }
      }
      isUpward = !isUpward;
    }
  }

  masked(mask: number): boolean[][] {
    this.format(mask);
    const rule = MASK_RULES[mask];
    return this.modules.map((row, y) => row.map((isDark, x) => (this.fixed[y][x] ? isDark : isDark !== rule(x, y))));
  }
}

/**
 * Matches modules that look like a finder pattern: dark, light, three dark, light, dark, and four
 * light ones on one side.
 */
const LOOKS_LIKE_FINDER = /(?=1011101 {4}| {4}1011101)/g;

/** Rates how hard a code is to read. The mask with the lowest penalty is used. */
export function penalty(modules: readonly (readonly boolean[])[]): number {
  const size = modules.length;
  const columns = modules.map((_, x) => modules.map((row) => row[x]));
  let sum = 0;
  for (const line of [...modules, ...columns]) {
    const text = line.map((isDark) => (isDark ? "1" : " ")).join("");
    for (const [run] of text.matchAll(/1{5,}| {5,}/g)) sum += run.length - 2;
    sum += 40 * [...text.matchAll(LOOKS_LIKE_FINDER)].length;
  }
  let dark = 0;
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const here = modules[y][x];
      if (here) dark++;
      const isBlock =
        y > 0 && x > 0 && here === modules[y - 1][x] && here === modules[y][x - 1] && here === modules[y - 1][x - 1];
      if (isBlock) sum += 3;
    }
  }
  return sum + 10 * Math.floor(Math.abs((20 * dark) / size ** 2 - 10));
}

/**
 * Encodes a text; null if it is longer than 213 bytes. Tests pass a mask; otherwise the best mask
 * is chosen.
 */
export function encode(text: string, mask?: number): QrCode | null {
  const bytes = new TextEncoder().encode(text);
  const version = versionFor(bytes.length);
  if (version === null) return null;
  const drawing = new Drawing(version);
  drawing.data(interleave(dataOf(bytes, version), version));
  const masks = mask === undefined ? Array.from({ length: MASKS }, (_, i) => i) : [mask];
  const codes = masks.map((one) => ({ size: drawing.size, mask: one, modules: drawing.masked(one) }));
  return codes.reduce((best, code) => (penalty(code.modules) < penalty(best.modules) ? code : best));
}

/** The dark modules as an SVG path, one unit for each module, with a margin of four modules. */
export function pathOf(code: QrCode): { path: string; size: number } {
  const margin = 4;
  const path = code.modules.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x + margin} ${y + margin}h1v1h-1z`] : [])),
  );
  return { path: path.join(""), size: code.size + 2 * margin };
}
