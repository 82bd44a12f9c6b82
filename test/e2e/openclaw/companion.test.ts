import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { createManyApp } from "../../runtimes/openclaw/many-actions.ts";
import { findFreePort } from "../../service/free-port.ts";
import { invokeTool } from "./host/invoke-tool.ts";
import { connectOperator, type Operator } from "./host/operator.ts";
import { OPEN_HOST_MS, type OwnHost, openOwnHost } from "./host/own-host.ts";
import { mustRunOpenClaw } from "./host/run-openclaw.ts";
import { syncPlugin } from "./host/set-up-plugin.ts";
import { startGateway } from "./host/start-gateway.ts";

/** The generated plugin when something comes between: a call that waits, and a plugin that is taken away. */

const LOOK = { id: "look" };
const CHANGE = { id: "change", level: "write", requiresConfirmation: true } as const;
const PATIENCE = { timeout: 120_000, interval: 250 };
const small = createManyApp("app", [LOOK, CHANGE]);
const grown = createManyApp("app", [LOOK, CHANGE, { id: "more" }]);

let dataDir: string;
let port: number;
let service: TestService;
let host: OwnHost;
let operator: Operator;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "svc-companion-"));
  port = await findFreePort();
  service = await startTestService({ dataDir, port, integrations: [small.integration] });
  await service.service.connections.add({ integration: "app", label: "App", settings: {}, scopes: [] });
  host = await openOwnHost({ baseUrl: service.url, apiKey: service.apiKey }, { synced: true });
  operator = await connectOperator(host.gateway, host.state);
}, OPEN_HOST_MS);

afterAll(async () => {
  await operator?.close();
  await host?.close();
  await service?.close();
  await rm(dataDir, { recursive: true, force: true });
});

const invoke = (tool: string) => invokeTool(host.gateway, host.state, tool, { text: "over HTTP" });

async function waitForLog(text: string): Promise<void> {
  await vi.waitFor(
    async () => expect(await readFile(join(host.state.folder, "openclaw.log"), "utf8")).toContain(text),
    PATIENCE,
  );
}

/** Names of action tools that the model is told of. */
async function readDirectory(sessionKey: string): Promise<string[]> {
  host.model.playTurn("Nothing.");
  await (await operator.chat("What can you do?", { sessionKey })).done;
  return host.model.requests.at(-1)?.raw.match(/- app_\w+ \(svc-actions\)/g) ?? [];
}

test("a sync while a call waits for a person: the call runs once, and the new tools come with the next reload", async () => {
  host.model.playTurn({ tool: "app_change", args: { text: "waiting" } }, "Done.");
  const turn = await operator.chat("Go.", { sessionKey: "waiting" });
  const card = await operator.take("plugin.approval.requested");
  await service.close();
  service = await startTestService({ dataDir, port, integrations: [grown.integration] });
  expect(await syncPlugin(host.state)).toMatch(/app_more[\s\S]*Afterwards run: openclaw plugins reload svc-actions/);
  await waitForLog("Plugin svc-actions still has active retained work");
  expect(await invoke("app_look")).toMatchObject({ status: 200 });
  expect(await invoke("app_more")).toMatchObject({ status: 404 });
  await operator.request("plugin.approval.resolve", { id: card.id, decision: "allow-once" });
  expect(await turn.done).toBe("Done.");
  expect(host.model.requests.at(-1)?.results.at(-1)).toContain("succeeded");
  expect([...small.calls, ...grown.calls].filter(({ action }) => action === "change")).toHaveLength(1);
  // The host lets go of a turn a little after it has told its end.
  await vi.waitFor(() => mustRunOpenClaw(host.state, ["plugins", "reload", "svc-actions"]), PATIENCE);
  expect(await invoke("app_more")).toMatchObject({ status: 200 });
});

test("uninstalled without unpair: no tool works or is offered any more, and the next start says what to run", async () => {
  expect(await invoke("app_look")).toMatchObject({ status: 200 });
  await mustRunOpenClaw(host.state, ["plugins", "uninstall", "svc", "--force"]);
  const before = grown.calls.length;
  expect(await invoke("app_look")).toMatchObject({ status: 404 });
  expect(await readDirectory("after")).toEqual([]);
  await operator.close();
  await host.gateway.stop();
  host.gateway = await startGateway(host.state);
  operator = await connectOperator(host.gateway, host.state);
  await waitForLog("svc-actions: the plugin svc is not loaded");
  expect(await invoke("app_look")).toMatchObject({ status: 404 });
  expect(await readDirectory("restarted")).toEqual([]);
  expect(grown.calls).toHaveLength(before);
});
