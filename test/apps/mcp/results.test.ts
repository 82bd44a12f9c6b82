import { afterAll, beforeAll, expect, test } from "vitest";
import { serveScriptedServer } from "../../service/added/serve-scripted-server.ts";
import { waitForTool } from "../../service/added/wait-for-tool.ts";

/** What tools of MCP servers answer reaches the caller: all parts that can be read, the words of errors, no base64. */

const PICTURE = Buffer.alloc(3000, 7).toString("base64");
const picture = { type: "image", data: PICTURE, mimeType: "image/png" };
const text = (said: string) => ({ type: "text", text: said });

/** Results by tool. */
const RESULTS: Record<string, object> = {
  drawn: { structuredContent: { content: [picture], raw: PICTURE }, content: [picture] },
  only_structured: { structuredContent: { deep: [{ shot: picture }] } },
  repeated: { structuredContent: { n: 1 }, content: [text('{"n": 1}')] },
  repeated_within: { structuredContent: { found: [{ line: "milk" }] }, content: [text("milk")] },
  page: { structuredContent: { rows: [] }, content: [text("Ten of 4,000 rows; ask for page 2")] },
  film: {
    content: [{ type: "video", data: "AAAA", mimeType: "video/mp4" }, text("kept"), "no part", { type: "image" }],
  },
  silent: { isError: true, content: [], structuredContent: { message: "why" } },
  empty: { content: [] },
  listless: { structuredContent: { fine: true } },
};

const SERVER = `
import { createInterface } from "node:readline";
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const results = ${JSON.stringify(RESULTS)};
const open = { type: "object" };
const lost = { type: "object", properties: { a: { $ref: "#/$defs/Nope" }, n: { type: "integer" } } };
const tools = [...Object.keys(results), "coloured", "huge", "quick", "lost"].map((name) => ({
  name, annotations: { readOnlyHint: true }, inputSchema: name === "lost" ? lost : open }));
const more = Array.from({ length: 110 }, (_, nth) => ({ name: "more_" + nth, inputSchema: open }));
const pages = [...tools, ...more].map((tool) => [tool]);
const waiting = [];
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    const { protocolVersion } = params;
    say({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "Results", version: "1" } } });
  } else if (method === "tools/list") {
    const at = Number(params?.cursor ?? 0);
    const end = process.argv[2] === "endless" ? "3" : null;
    say({ id, result: { tools: pages[at], nextCursor: at + 1 < pages.length ? String(at + 1) : end } });
  } else if (method === "tools/call") {
    const { name, arguments: args } = params;
    if (name === "coloured") {
      const data = { field: "v", why: "must be a colour" };
      say({ id, error: { code: -32602, message: "Invalid params", data } });
    } else if (name === "huge") {
      waiting.push(id);
    } else if (name === "quick") {
      // The large answer comes first, while this call is under way.
      for (const first of waiting.splice(0)) say({ id: first, result: { content: [{ type: "text", text: "x".repeat(11e6) }] } });
      say({ id, result: { content: [{ type: "text", text: "quick" }] } });
    } else {
      say({ id, result: results[name] ?? { content: [{ type: "text", text: JSON.stringify(args) }] } });
    }
  }
});
`;

let server: Awaited<ReturnType<typeof serveScriptedServer>>;

beforeAll(async () => {
  server = await serveScriptedServer("results", SERVER, "drawn");
}, 60_000);

afterAll(() => server?.close());

async function call(tool: string, args?: object) {
  const { result, error } = await server.send(tool, args);
  return result ?? error;
}

const file = { type: "image", mimetype: "image/png", s3key: expect.any(String), size: 3000 };

test("a picture in structured content is a file, and the same one where it stands beside it", async () => {
  const result = await call("drawn");
  expect(JSON.stringify(result)).not.toContain(PICTURE.slice(0, 100));
  expect(result).toMatchObject({ structured: { content: [file] }, content: [file] });
  const { structured, content } = result as { structured: { raw: string }; content: { s3key: string }[] };
  expect(structured.raw).toBe(content[0]?.s3key);
  expect(await call("only_structured")).toMatchObject({ deep: [{ shot: file }] });
});

test.each([
  ["repeated", { n: 1 }],
  ["repeated_within", { found: [{ line: "milk" }] }],
  ["listless", { fine: true }],
  ["page", { structured: { rows: [] }, content: [text("Ten of 4,000 rows; ask for page 2")] }],
  ["empty", { content: [] }],
])("structured content and texts: %s", async (tool, right) => {
  expect(await call(tool)).toEqual(right);
});

test("a part that nobody knows does not hide the others", async () => {
  const not_shown = expect.stringContaining("not read here");
  const others = [
    { type: "unknown", not_shown },
    { type: "image", not_shown },
  ];
  expect(await call("film")).toEqual({ content: [{ type: "video", not_shown }, text("kept"), ...others] });
});

test("a failure is told in the server's words", async () => {
  expect(await call("silent")).toMatchObject({ message: "why" });
  const refused = await server.send("coloured", { v: "loud" });
  expect(refused).toMatchObject({ ok: false, error: { message: expect.stringContaining("Invalid params") } });
  expect(JSON.stringify(refused)).toContain("v: must be a colour");
});

test("an answer of 11 MB ends its own call, and the one beside it is answered", async () => {
  const huge = call("huge");
  await expect.poll(() => call("quick")).toEqual({ text: "quick" });
  expect(await huge).toMatchObject({ message: expect.stringMatching(/too (long|large)/i), retryable: false });
});

test("a reference that leads nowhere does not stop a call", async () => {
  expect(await call("lost", { a: "x", n: 1 })).toEqual({ a: "x", n: 1 });
  expect(await call("lost", { a: "x", n: "y" })).toMatchObject({ message: expect.stringContaining("n: expected") });
});

test("a list of 120 pages is read to its end, and one without an end has a note", async () => {
  expect(server.notes).toEqual([]);
  await waitForTool(server.service, "results_more_109");
  const { source, notes: said } = await server.prepare("endless", "endless");
  expect(source.content.actions.length).toBeGreaterThanOrEqual(120);
  expect(said.at(-1)).toMatch(/^The list of tools has no end/);
});
