// @ts-check
/**
 * Generates the wire types in `src/wire/*.ts` from the OpenAPI documents that the program prints.
 *
 *     node scripts/wire.js ../target/release/chicane            writes the files
 *     node scripts/wire.js ../target/release/chicane --check    fails if the files are out of date
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * The part of JSON Schema that the OpenAPI documents use.
 * @typedef {{ $ref?: string, type?: string | string[], enum?: unknown[], items?: Schema,
 *   properties?: Record<string, Schema>, required?: string[],
 *   additionalProperties?: Schema | boolean, oneOf?: Schema[], anyOf?: Schema[], allOf?: Schema[],
 *   description?: string, prefixItems?: Schema[], maxItems?: number, minItems?: number,
 *   const?: unknown }} Schema
 */

/**
 * Returns the TypeScript type of a schema.
 * @param {Schema | undefined} schema @param {string} indent @returns {string}
 */
export function typeOf(schema, indent = "") {
  if (!schema || Object.keys(schema).length === 0) return "unknown";
  if (schema.$ref) return schema.$ref.split("/").at(-1) ?? "unknown";
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const either = schema.oneOf ?? schema.anyOf;
  if (either) return [...new Set(either.map((one) => typeOf(one, indent)))].join(" | ");
  if (schema.allOf) return schema.allOf.map((one) => typeOf(one, indent)).join(" & ");
  const types = [schema.type ?? "unknown"].flat();
  return [...new Set(types.map((type) => ofType(type, schema, indent)))].join(" | ");
}

/** @param {string} type @param {Schema} schema @param {string} indent */
function ofType(type, schema, indent) {
  switch (type) {
    case "integer":
    case "number":
      return "number";
    case "string":
    case "boolean":
    case "null":
      return type;
    case "array":
      return arrayOf(schema, indent);
    case "object":
      return objectOf(schema, indent);
    default:
      return "unknown";
  }
}

/** @param {Schema} schema @param {string} indent */
function arrayOf(schema, indent) {
  const item = typeOf(schema.items, indent);
  const count = schema.maxItems;
  if (count !== undefined && count === schema.minItems && count <= 8) {
    return `[${Array.from({ length: count }, () => item).join(", ")}]`;
  }
  return /[|&]/.test(item) ? `(${item})[]` : `${item}[]`;
}

/** @param {Schema} schema @param {string} indent */
function objectOf(schema, indent) {
  const deeper = `${indent}  `;
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    const optional = schema.required?.includes(name) ? "" : "?";
    // The schema of an optional reference is a `oneOf`. Its description is in the variant with the
    // reference.
    const text = field.description ?? field.oneOf?.find((one) => one.description)?.description;
    return `${comment(text, deeper)}${deeper}${key}${optional}: ${typeOf(field, deeper)};`;
  });
  if (fields.length > 0) return `{\n${fields.join("\n")}\n${indent}}`;
  const more = schema.additionalProperties;
  // `Record<…>` is not used here, because a schema can have the name `Record`.
  return `{ [name: string]: ${typeof more === "object" ? typeOf(more, indent) : "unknown"} }`;
}

/** @param {string | undefined} text @param {string} indent */
function comment(text, indent) {
  return text ? `${indent}/** ${text.replaceAll("*/", "* /").replaceAll("\n", " ")} */\n` : "";
}

/**
 * Returns the TypeScript module for an OpenAPI document.
 * @param {{ info: { title: string }, components: { schemas: Record<string, Schema> } }} document
 */
export function moduleOf(document) {
  const head = `// Made from the OpenAPI document of "${document.info.title}" by scripts/wire.js: do not edit, run \`make wire\`.\n`;
  const types = Object.entries(document.components.schemas)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `${comment(schema.description, "")}export type ${name} = ${typeOf(schema)};\n`);
  return [head, ...types].join("\n");
}

/** @param {string[]} args */
function main([program, mode]) {
  let outdated = false;
  for (const [name, options] of /** @type {const} */ ([
    ["sim", ["openapi"]],
    ["robot", ["openapi", "--robot"]],
  ])) {
    const document = JSON.parse(execFileSync(program, options, { encoding: "utf8", maxBuffer: 1 << 26 }));
    const file = fileURLToPath(new URL(`../src/wire/${name}.ts`, import.meta.url));
    const text = moduleOf(document);
    if (mode !== "--check") {
      writeFileSync(file, text);
    } else if (readFileSync(file, "utf8") !== text) {
      console.error(`src/wire/${name}.ts does not match the OpenAPI document. Run \`make wire\`.`);
      outdated = true;
    }
  }
  process.exitCode = outdated ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
