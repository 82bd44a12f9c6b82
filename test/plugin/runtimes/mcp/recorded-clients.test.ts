import { PassThrough } from "node:stream";
import { Client } from "@modelcontextprotocol/client";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { afterEach, describe, expect, test } from "vitest";
import { placesUnder } from "../../../../src/cli/context.ts";
import { serveMcp } from "../../../../src/plugin/runtimes/mcp/serve-mcp.ts";
import { WAITING_CALL } from "../../../../src/shared/wire/mcp-app.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { readTable } from "../../../docs/read-page.ts";
import { sendModern } from "../../../service/mcp/mcp-calls.ts";
import { makeHome } from "./mcp-client.ts";
import { describeClient, RECORDED_CLIENTS, type RecordedClient } from "./recorded-clients.ts";

/** Clients as they introduce themselves: each is asked and shown what it can show, and nothing runs. */

let service: TestService;
let place: Awaited<ReturnType<typeof makeHome>>;
afterEach(async () => {
  await service.close();
  await place.remove();
});

const page = { title: "Milk", body: "2 l" };

/** What a human sees of one write through `svc mcp`, by a client that answers nothing. */
async function write({ name, capabilities }: RecordedClient, approvals: "owner" | "device") {
  service = await startTestService({ approvals });
  place = await makeHome();
  const { media, state } = placesUnder(place.home);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = serveMcp({
    session: { baseUrl: service.url, apiKey: service.apiKey, mediaRoots: [media], stateDir: state },
    version: "1.0.0",
    tools: [],
    maxToolTokens: 0,
    waitMs: 1_000,
    input,
    output,
    log: () => undefined,
    signal: new AbortController().signal,
  });
  const client = new Client({ name, version: "1" }, { capabilities, versionNegotiation: { mode: "legacy" } });
  const asked: string[] = [];
  if (capabilities.elicitation !== undefined) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params.mode === "url" ? "link" : "form");
      return { action: "cancel" };
    });
  }
  await client.connect(new StdioServerTransport(output, input) as never);
  const call = { name: "svc_call_tool", arguments: { name: "notes_create_page", arguments: page } };
  const { structuredContent, _meta } = await client.callTool(call);
  await client.close();
  input.end();
  await served;
  expect(await service.effects()).toEqual([]);
  const shown = _meta?.[WAITING_CALL] as { url: string; card: string[] } | undefined;
  return { asked, shown, text: JSON.stringify(structuredContent) };
}

describe.each(RECORDED_CLIENTS.map((client) => [client.name, client] as const))("%s", (_name, client) => {
  const [, forms, links, pages] = describeClient(client);

  test("a write that waits in the inbox: its link, a page where it shows pages, and the link as text", async () => {
    const { asked, shown, text } = await write(client, "owner");
    expect(asked).toEqual(links === "yes" ? ["link"] : []);
    expect(text).toContain(`${service.url}/inbox/`);
    expect(shown === undefined).toBe(pages === "no");
    if (shown !== undefined)
      expect(shown.card.join("\n")).toMatch(/Tool +│ notes_create_page\nArguments │ title: Milk/);
  });

  test("a write that its human is asked about here: a form, or the ways out", async () => {
    const { asked, shown, text } = await write(client, "device");
    expect(asked).toEqual(forms === "yes" ? ["form"] : []);
    if (forms === "no") expect(text).toContain("cannot show approval forms");
    expect(shown).toBeUndefined();
  });

  test("at the endpoint, in the newest revision: the link, or the page beside the answer", async () => {
    service = await startTestService({ approvals: "owner" });
    place = await makeHome();
    const args = { integration_id: "notes", action_id: "create_page", input: page };
    const { capabilities } = client;
    const { json } = await sendModern(service, "tools/call", { name: "svc.execute", arguments: args, capabilities });
    const { inputRequests, _meta, structuredContent } = json.result;
    if (links === "yes") expect(inputRequests.owner.params).toMatchObject({ mode: "url" });
    else expect(structuredContent.approval.url).toContain(`${service.url}/inbox/`);
    expect(_meta[WAITING_CALL] !== undefined).toBe(pages === "yes" && links === "no");
    expect(await service.effects()).toEqual([]);
  });
});

test("docs/mcp-clients.md says the same of each", async () => {
  service = await startTestService();
  place = await makeHome();
  const said = readTable("docs/mcp-clients.md", "What each client shows").map((row) => row.slice(0, 5));
  expect(said).toEqual(RECORDED_CLIENTS.map(describeClient));
});
