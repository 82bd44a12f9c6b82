import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { prepareMcp } from "../../../src/apps/mcp/read-mcp-tools.ts";
import { openSourceAdmin } from "../../../src/service/added/open-source-admin.ts";
import { parseExactly } from "../../../src/shared/base/exact-number.ts";
import { makeHost } from "../../approvals/contract.ts";
import { LIBRARY } from "../../approvals/doors/library.ts";
import { closeAll, closeLater } from "../../plugin/calls/open-test-session.ts";
import { serveScriptedServer } from "../../service/added/serve-scripted-server.ts";
import { waitForTool } from "../../service/added/wait-for-tool.ts";
import { call } from "../../service/http-calls.ts";

/** Numbers that a double would change reach an MCP server, its answer and the card with all their digits. */

const SENT = "9007199254740993";
const ANSWERED = "9007199254740995";

/** What a server answers to a message; no parser has read the numbers in it. Also the source of the one that is a program. */
function answer(line: string): string | undefined {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return undefined;
  const info = { protocolVersion: params?.protocolVersion, serverInfo: { name: "Exact", version: "1" } };
  const inputSchema = { type: "object", properties: { n: { type: "integer" } } };
  const results: Record<string, object> = {
    initialize: { ...info, capabilities: { tools: {} } },
    "tools/list": { tools: ["put", "say"].map((name) => ({ name, inputSchema })) },
    "tools/call": { content: [{ type: "text", text: '{"id":9007199254740995}' }] },
  };
  const came = /"n":(-?[\d.]+)/.exec(line)?.[1];
  const structured = `{"content":[],"structuredContent":{"came":"${came}","id":9007199254740995}}`;
  const result = params?.name === "put" ? structured : JSON.stringify(results[method] ?? {});
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

const PROGRAM = `
import { createInterface } from "node:readline";
${answer}
createInterface({ input: process.stdin }).on("line", (line) => {
  const said = answer(line);
  if (said !== undefined) process.stdout.write(said + "\\n");
});
`;

let remote: Server;
let served: Awaited<ReturnType<typeof serveScriptedServer>>;

beforeAll(async () => {
  remote = createServer(async (request, response) => {
    const isPost = request.method === "POST";
    const said = isPost ? answer(await text(request)) : undefined;
    const status = said !== undefined ? 200 : isPost ? 202 : 405;
    response.writeHead(status, { "content-type": "application/json" }).end(said);
  });
  await new Promise<void>((resolve) => remote.listen(0, "127.0.0.1", resolve));
  served = await serveScriptedServer("child", PROGRAM, "put");
  const url = `http://127.0.0.1:${(remote.address() as AddressInfo).port}/mcp`;
  const definition = { transport: "http", url, isPrivate: true, headers: [], trusted: true } as const;
  const { source } = await prepareMcp({ slug: "remote", name: undefined, definition }, {}, AbortSignal.timeout(30_000));
  const admin = await openSourceAdmin({ dataDir: served.service.dataDir });
  await admin.add(source, { connection: { label: "Remote", settings: {} } });
  await admin.close();
  await waitForTool(served.service, "remote_put");
}, 60_000);

afterEach(closeAll);
afterAll(async () => {
  await served?.close();
  remote?.close();
});

test.each(["child", "remote"])("of a server that is %s", async (app) => {
  const open = await closeLater(await LIBRARY.open({ ...(await makeHost(served.service)), apps: [app] }));
  const asked = await open.start([{ id: "one", name: `${app}_put`, args: { n: parseExactly(SENT) } }]);
  expect(asked.questions.join("\n")).toContain(`n: ${SENT}`);
  const { told } = await open.resume(asked.saved, ["approve"]);
  expect(told.join("\n")).toMatch(new RegExp(`came[\\\\"]*:[\\\\"]*${SENT}[^\\d].*id[\\\\"]*:${ANSWERED}`, "s"));

  const { url, apiKey: key } = served.service;
  const headers = { "content-type": "application/json" };
  const send = async (tool: string, body: string) =>
    (await call(`${url}/api/tools/${app}_${tool}/execute`, { method: "POST", key, headers, body })).text;
  const body = `{"arguments":{"n":-${SENT}},"confirmed":true}`;
  expect(await send("put", body)).toContain(`{"came":"-${SENT}","id":${ANSWERED}}`);
  expect(await send("say", body)).toContain(`{"id":${ANSWERED}}`);
});
