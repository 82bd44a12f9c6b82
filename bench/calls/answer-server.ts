import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { announceServer } from "../processes/announce-server.ts";

/*
 * The least a service can be: it describes two tools and answers each call with the same envelope of about 1 kB, after
 * reading and parsing the body. What a call costs beyond this server is the work of the caller.
 */

const properties = {
  query: { type: "string", description: "Words to look for." },
  limit: { type: "integer", minimum: 1, maximum: 100 },
  labels: { type: "array", items: { type: "string" } },
  folder: { anyOf: [{ type: "string" }, { type: "null" }] },
  range: { type: "object", properties: { from: { type: "string" }, to: { type: "string" } } },
};
const inputSchema = { type: "object", properties, required: ["query"], additionalProperties: false };

function describe(name: string) {
  const action = { action_id: name, side_effect_level: name === "bench_find" ? "read" : "write" };
  const canonical = { integration_id: "bench", action };
  return { integration: "bench", name, description: "Answers at once.", inputSchema, canonical };
}

const tools = ["bench_find", "bench_send"].map(describe);
const items = Array.from({ length: 10 }, (_, id) => ({ id, title: `Item ${id}`, text: "x".repeat(60) }));
const answers = new Map(tools.map((tool) => [tool.name, JSON.stringify(createEnvelope(tool.name))]));

function createEnvelope(tool: string) {
  return { ok: true, tool, integration: "bench", result: { items } };
}

const server = createServer(async (request, response) => {
  const path = request.url?.split("?")[0] ?? "/";
  const [, , , name = "", verb] = path.split("/");
  let answer: string | undefined;
  if (request.method === "POST" && verb === "execute") {
    JSON.parse(await text(request));
    answer = answers.get(name);
  } else if (path === "/api/tools") {
    answer = JSON.stringify({ tools, count: tools.length, total: tools.length, truncated: false });
  } else if (path.startsWith("/api/tools/")) {
    answer = JSON.stringify({ tool: tools.find((tool) => tool.name === name) });
  }
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(answer ?? "") };
  response.writeHead(answer === undefined ? 404 : 200, headers).end(answer);
});
announceServer(server);
