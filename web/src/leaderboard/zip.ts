/**
 * Writes zip files. A chosen folder is sent as a zip file, because a browser provides the files of
 * a folder only one by one.
 */

/** A file of an archive. */
export interface ZipEntry {
  /** Path with slashes. */
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
/** The flag of an entry whose name is UTF-8. */
const FLAGS = 0x0800;
const DEFLATED = 8;
/** 1 January 2000, 00:00. The date is fixed, so that the same files give the same archive. */
const DATE = ((2000 - 1980) << 9) | (1 << 5) | 1;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, i) => {
  let value = i;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** The checksum CRC-32. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ byte) & 0xff];
  return (crc ^ 0xffffffff) >>> 0;
}

async function deflated(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The fields that both headers of an entry share, from the version field on. */
function fields(crc: number, packed: number, size: number, nameLength: number): number[][] {
  return [
    [2, 20],
    [2, FLAGS],
    [2, DEFLATED],
    [2, 0],
    [2, DATE],
    [4, crc],
    [4, packed],
    [4, size],
    [2, nameLength],
    [2, 0],
  ];
}

/** Encodes numbers as little-endian bytes. Each pair is a number of bytes and a value. */
function numbers(values: readonly number[][]): Uint8Array<ArrayBuffer> {
  const bytes = values.flatMap(([length, value]) => Array.from({ length }, (_, i) => (value / 2 ** (8 * i)) & 0xff));
  return new Uint8Array(bytes);
}

/** Packs files. */
export async function zip(entries: readonly ZipEntry[]): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let offset = 0;
  for (const { name, bytes } of entries) {
    const encoded = new TextEncoder().encode(name);
    const packed = await deflated(bytes);
    const common = fields(crc32(bytes), packed.length, bytes.length, encoded.length);
    const head = numbers([[4, LOCAL], ...common]);
    parts.push(head, encoded, packed);
    directory.push(numbers([[4, CENTRAL], [2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]]), encoded);
    offset += head.length + encoded.length + packed.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const count = entries.length;
  const end = numbers([[4, END], [2, 0], [2, 0], [2, count], [2, count], [4, size], [4, offset], [2, 0]]);
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
}
