import { afterEach, describe, expect, it, vi } from "vitest";
import { programName } from "../../src/panels/record-facts.ts";
import { wantsTour } from "../../src/panels/tour.ts";
import { saveBlob } from "../../src/ui/save-blob.ts";

describe("the name of a program", () => {
  it.each([
    ["python3 run.py", "run.py"],
    ["python3 -u src/drive.py --fast", "drive.py"],
    ["python3.12 -m team.drive --fast", "team.drive"],
    [`python3 -uc "exec('…')"`, "python3"],
    ["./bin/car --speed 2", "car"],
    ["SPEED=2 python3 'my program.py'", "my program.py"],
    ["env SPEED=2 node main.js", "main.js"],
    ["uv run run.py", "run.py"],
    ["sleep 600", "sleep"],
    ["python3", "python3"],
  ])("of %s is %s", (command, name) => {
    expect(programName(command)).toBe(name);
  });

  it("is not known without a command", () => {
    expect(programName(null)).toBeNull();
    expect(programName("  ")).toBeNull();
  });
});

describe("the tour", () => {
  it("starts at the first visit of a person, and if the address asks for it", () => {
    expect(wantsTour("", false, false)).toBe(true);
    expect(wantsTour("", true, false)).toBe(false);
    expect(wantsTour("", false, true)).toBe(false);
    expect(wantsTour("?tour", true, true)).toBe(true);
    expect(wantsTour("?world=oval", false, false)).toBe(false);
    expect(wantsTour("?replay=1", false, false)).toBe(false);
  });
});

describe("a download", () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });

  it("keeps its data after the click, because the browser reads them later", () => {
    vi.useFakeTimers();
    const link = { getAttribute: () => null, setAttribute: vi.fn(), click: vi.fn() };
    vi.stubGlobal("document", { createElement: () => link });
    const revoke = vi.spyOn(URL, "revokeObjectURL");
    saveBlob(new Blob(["x"]), "a.txt");
    expect(link.setAttribute).toHaveBeenCalledWith("download", "a.txt");
    expect(link.click).toHaveBeenCalledOnce();
    vi.advanceTimersByTime(30_000);
    expect(revoke).not.toHaveBeenCalled();
    vi.advanceTimersByTime(60_000);
    expect(revoke).toHaveBeenCalledOnce();
  });
});
