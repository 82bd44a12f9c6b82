import { afterAll, beforeAll, expect, test } from "vitest";
import { serveScriptedServer } from "../../service/added/serve-scripted-server.ts";

/** Lists in pages and ends with a cursor of null, writes to standard output, and answers with parts nobody knows. */
const SERVER = `
import { createInterface } from "node:readline";
const broken = { name: "draw\\u001b[31m" + "w".repeat(200), inputSchema: "any" };
const nameless = { inputSchema: { type: "object" } };
console.log("Server listens on standard input");
const say = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
const field = { type: "string", pattern: "(?i)abc" };
const amount = { type: "number", minimum: 0, exclusiveMinimum: true };
const first = { name: "first", annotations: { readOnlyHint: true }, inputSchema: { type: "object", properties: { field } } };
const second = { name: "second", annotations: { readOnlyHint: true }, inputSchema: {
  $schema: "http://json-schema.org/draft-04/schema#", type: "object", properties: { amount } } };
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    const serverInfo = { name: "Odd \\u001b[31mserver", version: "1" };
    say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === "tools/list") {
    say({ id, result: params.cursor ? { tools: [second, broken, nameless], nextCursor: null } : { tools: [first], nextCursor: "2" } });
  } else if (method === "tools/call") {
    say({ id, result: { content: params.name === "first" ? [{ type: "text", text: "well" }] : "hologram" } });
  }
});
`;

let odd: Awaited<ReturnType<typeof serveScriptedServer>>;

beforeAll(async () => {
  odd = await serveScriptedServer("odd", SERVER, "second");
}, 60_000);

afterAll(() => odd?.close());

async function call(tool: string, args: object) {
  const { result, error } = await odd.send(tool, args);
  return result ?? error?.message;
}

test("a tool that cannot be read is left out by its name, on one short line", () => {
  expect(odd.notes).toEqual([
    expect.stringMatching(/^"draw\\u001b\[31mw{10,70}…" was left out: its schema cannot be read\.$/),
    "The tool at place 4 of the list was left out: its name cannot be read.",
  ]);
});

test("a pattern of another language, and bounds of an old draft, do not stop calls", async () => {
  expect(await call("first", { field: "ABC" })).toEqual({ text: "well" });
  expect(await call("second", { amount: 0 })).toBe("amount: expected number above 0, got number 0");
});

test("an answer that cannot be read is told without the words of a schema checker, under a name that draws nothing", async () => {
  expect(await call("second", { amount: 1 })).toBe(
    "Odd \\u001b[31mserver gave an answer that cannot be read: Invalid result for tools/call",
  );
});
