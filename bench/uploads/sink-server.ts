import { createServer } from "node:http";
import { announceServer } from "../processes/announce-server.ts";

/*
 * A service that takes files and keeps nothing: it describes one tool and answers each call when its body has arrived.
 * It does not look at the bytes, so that it is never what is waited for.
 */

const file = { type: "object", properties: { name: {}, mimetype: {}, s3key: {} }, file_uploadable: true };
const inputSchema = { type: "object", properties: { files: { type: "array", items: file } }, required: ["files"] };
const canonical = { integration_id: "bench", action: { action_id: "bench_upload", side_effect_level: "write" } };
const tool = { integration: "bench", name: "bench_upload", description: "Takes files.", inputSchema, canonical };

const server = createServer((request, response) => {
  const path = request.url?.split("?")[0] ?? "/";
  const answer = (body: unknown) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  if (request.method === "POST") {
    request.on("end", () => answer({ ok: true, toolName: tool.name, integration: "bench", result: {} })).resume();
  } else if (path === "/api/tools") answer({ tools: [tool], count: 1, total: 1, truncated: false });
  else answer({ tool });
});
announceServer(server);
