import { z } from "zod";
import { isRecord } from "../../shared/base/json.ts";
import type { JsonSchema } from "../../shared/wire/tool.ts";
import { createArgumentGuard } from "../schema/repair/argument-guard.ts";

/** A tool in the shape of LangChain and others, reduced to the members that the checks use. */
export interface CheckedTool {
  readonly name: string;
  readonly description: string;
  /** A zod type or a JSON Schema. */
  readonly schema: unknown;
  invoke(input: never, config?: never): Promise<unknown>;
}

/** A tool for {@link createToolChecks}, with facts that the checks cannot find by themselves. */
export interface ToolCheckSubject {
  readonly tool: CheckedTool;
  /** Valid arguments. Default: the smallest the schema allows. */
  readonly exampleArguments?: Record<string, unknown> | undefined;
  /** How many effects the service has seen, e.g. `async () => (await service.effects()).length`. */
  readonly countEffects?: (() => Promise<number>) | undefined;
}

/** One test of a tool; its name completes a sentence that begins with the tool. */
export interface ToolCheck {
  readonly name: string;
  /** Rejects with an Error that explains the failure. */
  run(): Promise<void>;
}

/** Functions of a test framework; those of vitest, jest, mocha and node:test fit. */
export interface TestFunctions {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly test: (name: string, body: () => Promise<void>) => unknown;
}

/**
 * The standard checks of one tool as a group of tests. Let the toolkit's approver decline: the checks call the tool,
 * and a write must not happen for them.
 *
 * @example
 * import { describe, test } from "vitest";
 * for (const tool of toolkit.getTools()) describeSvcTool({ tool }, { describe, test });
 */
export function describeSvcTool(subject: ToolCheckSubject, { describe, test }: TestFunctions): void {
  describe(subject.tool.name, () => {
    for (const check of createToolChecks(subject)) test(check.name, () => check.run());
  });
}

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** The standard checks of one tool, for any way of running tests. */
export function createToolChecks(subject: ToolCheckSubject): ToolCheck[] {
  const { tool } = subject;
  const schema = readSchema(tool.schema);
  const args = subject.exampleArguments ?? createExampleArguments(schema);
  const { name, description } = tool;
  return [
    {
      name: "has a name every model provider accepts",
      run: async () => expectTrue(NAME.test(name), `the name "${name}" is not legal everywhere`),
    },
    {
      name: "has a description of at most 1,024 characters",
      async run() {
        expectTrue(description.trim() !== "", "it has no description");
        expectTrue(description.length <= 1_024, `its description has ${description.length} characters`);
      },
    },
    { name: "has an object schema", run: async () => expectTrue(schema.type === "object", "its schema is no object") },
    { name: "accepts the example arguments by its schema", run: async () => checkExample(schema, args) },
    { name: "answers a tool call with content and artifact", run: () => checkToolCall(tool, args) },
    { name: "answers bare arguments without throwing", run: () => checkBareCall(tool, args) },
    { name: "rejects an aborted call and does nothing", run: () => checkAbort(subject, args) },
    { name: "explains wrong arguments by field instead of throwing", run: () => checkWrongCall(tool, schema, args) },
  ];
}

function readSchema(schema: unknown): JsonSchema {
  const isZod = typeof schema === "object" && schema !== null && "_zod" in schema;
  // Only asked for its JSON Schema, which every zod 4 type can give.
  const shown: unknown = isZod ? z.toJSONSchema(schema as z.ZodType) : schema;
  return isRecord(shown) ? shown : {};
}

function checkExample(schema: JsonSchema, args: Record<string, unknown>): void {
  const { ok, problems } = createArgumentGuard(schema)(args);
  expectTrue(ok, `the example arguments do not fit: ${problems.map(({ message }) => message).join("; ")}`);
}

const CALL_ID = "check_1";

async function callTool(tool: CheckedTool, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const call = { type: "tool_call", id: CALL_ID, name: tool.name, args };
  const message: unknown = await tool.invoke(call as never);
  if (!isRecord(message)) throw new Error(`a tool call gave ${typeof message} and no message`);
  return message;
}

async function checkToolCall(tool: CheckedTool, args: Record<string, unknown>): Promise<void> {
  const message = await callTool(tool, args);
  expectTrue(message.tool_call_id === CALL_ID, "the message does not carry the id of the call");
  expectTrue(typeof message.content === "string" && message.content !== "", "the message has no text");
  const { artifact } = message;
  expectTrue(isRecord(artifact) && typeof artifact.status === "string", "the artifact is no outcome");
  const isSuccess = isRecord(artifact) && artifact.status === "succeeded";
  expectTrue(message.status === "error" || isSuccess, "what did not succeed is not marked as an error");
}

async function checkBareCall(tool: CheckedTool, args: Record<string, unknown>): Promise<void> {
  const content: unknown = await tool.invoke(args as never);
  expectTrue(typeof content === "string" && content !== "", "bare arguments did not give a text");
}

async function checkAbort({ tool, countEffects }: ToolCheckSubject, args: Record<string, unknown>): Promise<void> {
  const before = await countEffects?.();
  const config = { signal: AbortSignal.abort() };
  const error: unknown = await tool.invoke(args as never, config as never).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expectTrue(error instanceof Error && error.name === "AbortError", "an aborted call did not reject with AbortError");
  expectTrue((await countEffects?.()) === before, "an aborted call had an effect");
}

async function checkWrongCall(tool: CheckedTool, schema: JsonSchema, args: Record<string, unknown>): Promise<void> {
  const wrong = createWrongArguments(schema, args);
  if (wrong === undefined) return;
  const message = await callTool(tool, wrong.args);
  expectTrue(message.status === "error", `wrong ${wrong.field} was not answered with an error`);
  expectTrue(String(message.content).includes(wrong.field), `the error does not name ${wrong.field}`);
}

function expectTrue(condition: boolean, problem: string): void {
  if (!condition) throw new Error(`The tool does not pass: ${problem}.`);
}

const MAX_DEPTH = 8;

/** The smallest arguments a schema allows: required ones only, from its own examples where it gives any. */
function createExampleArguments(schema: JsonSchema): Record<string, unknown> {
  const value = createExample(schema, 0);
  return isRecord(value) ? value : {};
}

/**
 * Arguments that a schema refuses because of one named field; undefined when it accepts everything, like a schema
 * without properties.
 */
function createWrongArguments(
  schema: JsonSchema,
  example: Record<string, unknown>,
): { readonly args: Record<string, unknown>; readonly field: string } | undefined {
  const check = createArgumentGuard(schema);
  const properties = isRecord(schema.properties) ? Object.keys(schema.properties) : [];
  for (const field of properties) {
    for (const wrong of [{ "no such member": [] }, "no such value", -0.5]) {
      const args = { ...example, [field]: wrong };
      const checked = check(args);
      if (!checked.ok && checked.problems.some(({ path }) => path.startsWith(field))) return { args, field };
    }
  }
  return undefined;
}

function createExample(schema: unknown, depth: number): unknown {
  if (!isRecord(schema) || depth > MAX_DEPTH) return null;
  const [given] = Array.isArray(schema.examples) ? schema.examples : [];
  if (given !== undefined) return given;
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const [branch] = [schema.anyOf, schema.oneOf].filter(Array.isArray).flat();
  if (branch !== undefined) return createExample(branch, depth + 1);
  const type: unknown = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case "object":
      return createObject(schema, depth);
    case "array":
      return Array.from({ length: readCount(schema.minItems) }, () => createExample(schema.items, depth + 1));
    case "integer":
    case "number":
      return readCount(schema.minimum, 1);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return createText(schema);
  }
}

function createObject(schema: Record<string, unknown>, depth: number): Record<string, unknown> {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.filter((key) => typeof key === "string") : [];
  return Object.fromEntries(required.map((key) => [key, createExample(properties[key], depth + 1)]));
}

const BY_FORMAT: Readonly<Record<string, string>> = {
  date: "2026-01-31",
  "date-time": "2026-01-31T09:00:00Z",
  email: "someone@example.com",
  uri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

function createText(schema: Record<string, unknown>): string {
  const byFormat = typeof schema.format === "string" ? BY_FORMAT[schema.format] : undefined;
  return byFormat ?? "example".padEnd(readCount(schema.minLength), "-");
}

function readCount(value: unknown, otherwise = 0): number {
  return typeof value === "number" && Number.isFinite(value) ? value : otherwise;
}
