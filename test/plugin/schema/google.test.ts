import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { HumanMessage } from "@langchain/core/messages";
import { ChatGoogle } from "@langchain/google";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { toModelName } from "../../../src/plugin/calls/build.ts";
import { projectToolSchema, type SchemaProfile } from "../../../src/plugin/schema/project/project-schema.ts";
import { isRecord } from "../../../src/shared/base/json.ts";
import type { JsonSchema } from "../../../src/shared/schema-check/json-schema.ts";
import { createToolOver } from "./create-tool-over.ts";
import { MESSY_SCHEMAS } from "./messy-schemas.ts";

/** What LangChain's two Google packages make of our schemas; the request is caught and never sent. */

interface SourceTool {
  readonly name: string;
  readonly inputSchema: unknown;
}

interface ShownTool {
  readonly name: string;
  readonly schema: JsonSchema;
}

/** Schemas of public tools, where the neighbouring data folder holds them. */
function readNeighbour(): [string, SourceTool[]][] {
  const file = join(import.meta.dirname, "../../../shared/data/tool-schemas.jsonl");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return [["public tools", lines.filter((line) => line !== "").map((line): SourceTool => JSON.parse(line))]];
}

const SETS: [string, SourceTool[]][] = [
  ["hand-made", MESSY_SCHEMAS.map(({ name, schema }) => ({ name, inputSchema: schema }))],
  ...readNeighbour(),
];

const fields = { model: "gemini-2.5-flash", apiKey: "k", maxRetries: 0 };
const hello = [new HumanMessage("hello")];
type Tools = ReturnType<typeof createToolOver>[];

const CLIENTS: [string, (tools: Tools) => Promise<unknown>][] = [
  ["@langchain/google-genai", async (tools) => new ChatGoogleGenerativeAI(fields).bindTools(tools).invoke(hello)],
  ["@langchain/google", async (tools) => new ChatGoogle(fields).bindTools(tools).invoke(hello)],
];

const counts: string[] = [];
const bodies: Record<string, unknown>[] = [];
beforeAll(() => {
  vi.stubGlobal("fetch", async (input: unknown, init?: { body?: unknown }) => {
    bodies.push(JSON.parse(String(init?.body ?? (input instanceof Request ? await input.text() : "{}"))));
    return Response.json({ error: { message: "caught" } }, { status: 400 });
  });
});
afterAll(() => {
  vi.unstubAllGlobals();
  console.log(`Google packages, tools that throw: ${counts.join("; ")}`);
});

/** The function declarations in the request for some tools, or the error that kept it from being made. */
async function declare(send: (tools: Tools) => Promise<unknown>, shown: readonly ShownTool[]) {
  bodies.length = 0;
  const error = await send(shown.map(createToolOver)).catch((thrown: unknown) => thrown);
  const [body] = bodies;
  if (body === undefined) return { error: String(error) };
  const [group] = Array.isArray(body.tools) ? body.tools : [];
  const declarations: unknown[] = isRecord(group) ? Object(group.functionDeclarations) : [];
  return { declarations: declarations.filter(isRecord) };
}

/** Sends all tools in one request, as an agent does; when that fails, each alone, to name every tool at fault. */
async function declareAll(send: (tools: Tools) => Promise<unknown>, shown: readonly ShownTool[]) {
  const all = await declare(send, shown);
  if (all.declarations !== undefined) return { declarations: all.declarations, thrown: [] };
  const thrown: string[] = [];
  for (const tool of shown) {
    const { error } = await declare(send, [tool]);
    if (error !== undefined) thrown.push(`${tool.name}: ${error}`);
  }
  return { declarations: [], thrown };
}

function keysOf(schema: unknown): string[] {
  return isRecord(schema) && isRecord(schema.properties) ? Object.keys(schema.properties) : [];
}

/** Properties that google-genai deletes by mistake; only the `gemini` profile renames them. */
const DELETED: ReadonlySet<string> = new Set(["strict", "additionalProperties"]);

describe.each(SETS)("%s", (set, tools) => {
  const show = (profile: SchemaProfile) =>
    tools.map(({ name, inputSchema }): ShownTool => {
      return { name: toModelName(name), schema: projectToolSchema(inputSchema, { profile }).schema };
    });

  describe.each(CLIENTS)("through %s", (client, send) => {
    test("every gemini projection arrives whole", async () => {
      const shown = show("gemini");
      const { declarations, thrown } = await declareAll(send, shown);
      counts.push(`${set}, ${client}, gemini: ${thrown.length} of ${tools.length}`);
      expect(thrown).toEqual([]);
      expect(declarations.map(({ name }) => name)).toEqual(shown.map(({ name }) => name));
      for (const [index, { name, schema }] of shown.entries()) {
        const { parameters } = declarations[index] ?? {};
        expect(keysOf(parameters), name).toEqual(keysOf(schema));
        // A tool without arguments is declared without parameters by one of them.
        if (parameters !== undefined) expect(parameters, name).toEqual(schema);
      }
    });

    test("every full projection is taken, with all keys but those the package deletes", async () => {
      const shown = show("full");
      const { declarations, thrown } = await declareAll(send, shown);
      counts.push(`${set}, ${client}, full: ${thrown.length} of ${tools.length}`);
      expect(thrown).toEqual([]);
      expect(declarations.map(({ name }) => name)).toEqual(shown.map(({ name }) => name));
      for (const [index, { name, schema }] of shown.entries()) {
        const left = keysOf(schema).filter((key) => client === "@langchain/google" || !DELETED.has(key));
        expect(keysOf(declarations[index]?.parameters), name).toEqual(left);
      }
    });
  });
});
