import { describe, expect, it } from "vitest";
import { moduleOf, typeOf } from "../../scripts/wire.js";

describe("wire types", () => {
  it("match the schema", () => {
    expect(typeOf({ type: "integer" })).toBe("number");
    expect(typeOf({ type: ["string", "null"] })).toBe("string | null");
    expect(typeOf({ $ref: "#/components/schemas/Pose" })).toBe("Pose");
    expect(typeOf({ enum: ["red", "green"] })).toBe('"red" | "green"');
    expect(typeOf({ type: "array", items: { type: "number" }, minItems: 2, maxItems: 2 })).toBe("[number, number]");
    expect(typeOf({ type: "array", items: { oneOf: [{ type: "null" }, { type: "number" }] } })).toBe(
      "(null | number)[]",
    );
    expect(typeOf({ type: "object", additionalProperties: { $ref: "#/x/Pose" } })).toBe("{ [name: string]: Pose }");
    expect(
      typeOf({ type: "object", required: ["a"], properties: { a: { type: "number" }, "b-c": { type: "string" } } }),
    ).toBe('{\n  a: number;\n  "b-c"?: string;\n}');
    expect(typeOf({ allOf: [{ $ref: "#/x/A" }, { $ref: "#/x/B" }] })).toBe("A & B");
    expect(typeOf({})).toBe("unknown");
  });

  it("of a flattened struct have the fields of all its parts", () => {
    const text = moduleOf({
      info: { title: "T" },
      components: {
        schemas: {
          Record: {
            allOf: [
              { $ref: "#/x/Identity" },
              { type: "object", required: ["seed"], properties: { seed: { type: "integer" } } },
            ],
          },
          Identity: {
            type: "object",
            properties: { box: { oneOf: [{ $ref: "#/x/BoxKind", description: "The isolation." }, { type: "null" }] } },
          },
        },
      },
    });
    expect(text).toContain("export type Record = Identity & {\n  seed: number;\n};");
    expect(text).toContain("  /** The isolation. */\n  box?: BoxKind | null;");
  });

  it("are sorted by name", () => {
    const text = moduleOf({
      info: { title: "T" },
      components: { schemas: { B: { type: "string" }, A: { type: "number" } } },
    });
    expect(text.indexOf("type A")).toBeLessThan(text.indexOf("type B"));
  });
});
