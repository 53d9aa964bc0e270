// @ts-check
import { crc32, deflateSync } from "node:zlib";

/** @param {string} kind @param {Buffer} body */
function chunk(kind, body) {
  const out = Buffer.alloc(12 + body.length);
  out.writeUInt32BE(body.length, 0);
  out.write(kind, 4, "latin1");
  body.copy(out, 8);
  out.writeUInt32BE(crc32(out.subarray(4, 8 + body.length)), 8 + body.length);
  return out;
}

/**
 * Encodes an RGB image with 8 bits per channel as PNG.
 * @param {Uint8Array} rgb
 * @param {number} width
 * @param {number} height
 */
export function png(rgb, width, height) {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const rows = Buffer.alloc((3 * width + 1) * height);
  for (let y = 0; y < height; y++) {
    rows.set(rgb.subarray(3 * width * y, 3 * width * (y + 1)), (3 * width + 1) * y + 1);
  }
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const body = deflateSync(rows);
  return Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", body), chunk("IEND", Buffer.alloc(0))]);
}
