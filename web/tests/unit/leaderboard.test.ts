import { inflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { decimalsOf, gapText, sizeText, timeOfDay } from "../../src/leaderboard/format.ts";
import { ofFile, ofFolder } from "../../src/leaderboard/upload.ts";
import { crc32, zip } from "../../src/leaderboard/zip.ts";
import { readAddress, writeAddress } from "../../src/replay/address.ts";
import { en } from "../../src/strings/en.ts";

/** The entries of an archive, found with the directory at the end of the archive. */
function entries(bytes: Buffer): { name: string; text: string; crc: number }[] {
  const end = bytes.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  let at = bytes.readUInt32LE(end + 16);
  return Array.from({ length: bytes.readUInt16LE(end + 10) }, () => {
    const [crc, packed, nameLength] = [bytes.readUInt32LE(at + 16), bytes.readUInt32LE(at + 20), bytes.readUInt16LE(at + 28)];
    const [local, name] = [bytes.readUInt32LE(at + 42), bytes.subarray(at + 46, at + 46 + nameLength).toString()];
    at += 46 + nameLength;
    const start = local + 30 + bytes.readUInt16LE(local + 26);
    return { name, text: inflateRawSync(bytes.subarray(start, start + packed)).toString(), crc };
  });
}

const file = (name: string, text: string, path = ""): File => {
  const made = new File([text], name);
  Object.defineProperty(made, "webkitRelativePath", { value: path });
  return made;
};

describe("results", () => {
  it("of a table have the same number of decimals", () => {
    expect(decimalsOf([21, 22.5, 23.125])).toBe(3);
    expect(decimalsOf([21, 22])).toBe(0);
    expect(decimalsOf([0.30000000000000004])).toBe(1);
    expect(decimalsOf([])).toBe(0);
  });

  it("show the gap to the leader", () => {
    expect(gapText(22.5, 21, 3)).toBe("+1.500");
    expect(gapText(7, 10, 0)).toBe("+3");
  });

  it("without a time show none", () => {
    expect(timeOfDay("never")).toBe(en.units.none);
  });
});

describe("an archive", () => {
  it("has the checksums and the files of its entries", async () => {
    expect(crc32(new TextEncoder().encode("123456789"))).toBe(0xcbf43926);
    const bytes = (text: string) => new Uint8Array(new TextEncoder().encode(text));
    const made = await zip([
      { name: "race/main.py", bytes: bytes("print(1)\n".repeat(1000)) },
      { name: "race/ä.txt", bytes: bytes("") },
    ]);
    const [main, other] = entries(Buffer.from(await made.arrayBuffer()));
    expect([main.name, main.text.length, other.name, other.text]).toEqual(["race/main.py", 9000, "race/ä.txt", ""]);
    expect(main.crc).toBe(crc32(bytes(main.text)));
  });
});

describe("an upload", () => {
  it("of one file has the content type of its name", () => {
    expect(ofFile(file("race.ZIP", "x")).type).toBe("application/zip");
    expect(ofFile(file("race.py", "x")).type).toBe("text/x-python");
    expect(() => ofFile(file("race.exe", "x"))).toThrow(en.leaderboard.wrongKind);
    const large = { name: "race.zip", size: 17 * 1024 * 1024 } as File;
    expect(() => ofFile(large)).toThrow(en.leaderboard.tooLarge);
  });

  it("of a folder leaves out what is not part of the program", async () => {
    const names = ["main.py", ".git/HEAD", "__pycache__/main.pyc", ".DS_Store", "tools/a.py", "venv/bin/python"];
    const upload = await ofFolder(names.map((name) => file(name.split("/").at(-1) ?? "", name, `race/${name}`)));
    const packed = entries(Buffer.from(await upload.bytes.arrayBuffer()));
    expect(packed.map((entry) => entry.name)).toEqual(["race/main.py", "race/tools/a.py"]);
    expect(upload.label).toBe(en.leaderboard.chosenFolder("race", "2", sizeText(upload.bytes.size)));
    await expect(ofFolder([file("HEAD", "x", "race/.git/HEAD")])).rejects.toThrow(en.leaderboard.noFile);
  });
});

describe("the address of a replay", () => {
  it("can name the ghost", () => {
    const run = { view: "replay" as const, session: "a1", time: null, ghost: "b2" };
    expect(writeAddress("?quality=low", run)).toBe("?quality=low&replay=a1&ghost=b2");
    expect(readAddress("?replay=a1&ghost=b2")).toEqual(run);
    expect(readAddress("?replay=a1&ghost=../b")).toEqual({ view: "replay", session: "a1", time: null });
    expect(readAddress("?result=a1&ghost=b2")).toEqual({ view: "result", session: "a1", time: null });
    expect(writeAddress("?replay=a1&ghost=b2", null)).toBe("");
  });
});
