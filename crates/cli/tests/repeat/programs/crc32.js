// A checksum of a text. The module `zlib` has `crc32` in newer versions of Node.js only.
"use strict";

exports.crc32 = (text) => {
  let sum = ~0;
  for (const byte of Buffer.from(text)) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
};
