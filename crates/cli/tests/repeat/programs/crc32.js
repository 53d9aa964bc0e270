// Computes the checksum CRC-32 of a text, because older versions of Node.js have no `zlib.crc32`.
"use strict";

exports.crc32 = (text) => {
  let sum = ~0;
  for (const byte of Buffer.from(text)) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
};
