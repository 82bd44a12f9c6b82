import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { invokeTool } from "./host/invoke-tool.ts";
import { connectOperator, type Operator } from "./host/operator.ts";
import { OPEN_HOST_MS, type OwnHost, openOwnHost } from "./host/own-host.ts";
import { mustRunOpenClaw, runOpenClaw } from "./host/run-openclaw.ts";
import { PAIR_LINK } from "./host/set-up-plugin.ts";
import { throughReload } from "./host/through-reload.ts";

/** From a chat alone: pairing, action tools, and how it ends. Each test goes on where the one before stopped. */

let service: TestService;
let host: OwnHost;
let operator: Operator;

beforeAll(async () => {
  service = await startTestService();
  host = await openOwnHost({ baseUrl: service.url });
  operator = await connectOperator(host.gateway, host.state);
}, OPEN_HOST_MS);

afterAll(async () => {
  await operator?.close();
  await host?.close();
  await service?.close();
});

const say = async (message: string, sessionKey = "owner") => (await operator.chat(message, { sessionKey })).done;
const invoke = (tool: string, args: object = {}) => invokeTool(host.gateway, host.state, tool, args);

/** `/login svc`, with what the owner does on the approval page; the chat's last word. */
async function login(decision: "approve" | "decline"): Promise<string> {
  const turn = await operator.chat("/login svc", { sessionKey: "owner" });
  const fits = (payload: Record<string, unknown>) =>
    payload.runId === turn.runId && PAIR_LINK.test(JSON.stringify(payload));
  const shown = JSON.stringify(await operator.take("chat", fits));
  await service.decide(PAIR_LINK.exec(shown)?.[0] ?? "", decision);
  return turn.done;
}

test("before pairing, /svc says how to pair", async () => {
  expect(await say("/svc status")).toMatch(/FAIL {2}Not paired[\s\S]*Fix: .*\/login svc/);
  expect(await say("/svc pair")).toContain("/login svc");
});

test("/login svc shows link and code; a no on the page ends it with the reason", async () => {
  const said = await login("decline");
  expect(said).toMatch(/Code: \w{4}-\w{4}\. Approve only if the page shows this code/);
  expect(said).toContain("declined");
  expect(await say("/svc status")).toContain("Not paired");
});

test("/login svc pairs, and everything works at once", async () => {
  expect(await login("approve")).toMatch(/Paired with http\S+[\s\S]*login complete/);
  expect(await say("/svc status")).toMatch(/key is from OpenClaw's credential store[\s\S]*key is accepted/);
  expect((await invoke("svc_search_tools", { query: "list files" })).text).toContain("drive_list_files");
});

test("/svc sync gives the actions tools after it has shown them", async () => {
  const shown = await say("/svc sync");
  expect(shown).toMatch(/^ {2}drive_list_files {2}\(read\)$/m);
  expect((await invoke("drive_list_files")).status).toBe(404);
  const apply = shown.match(/\/svc sync apply \w+$/)?.[0] ?? "";
  expect(await throughReload(host.state, () => say(apply))).toContain("offers the tools");
  expect((await invoke("drive_list_files")).status).toBe(200);
  expect(await say("/svc status")).toMatch(/^All well: \d+ tools of \d+ apps\./);
  const { findings } = JSON.parse(await mustRunOpenClaw(host.state, ["svc", "status", "--json"]));
  expect(findings).toContainEqual(
    expect.objectContaining({ id: "tools", text: expect.stringMatching(/^All \d+ tools/) }),
  );
}, 300_000);

test("a client without the right to approve gets nothing from /svc", async () => {
  const guest = await connectOperator(host.gateway, host.state, ["operator.read", "operator.write"]);
  const reply = await (await guest.chat("/svc pending", { sessionKey: "guest" })).done;
  await guest.close();
  expect(reply).toContain("operator.approvals");
});

test("what an agent sends to another conversation is no command", async () => {
  await say("Hello.", "other");
  const send = { sessionKey: "agent:main:other", message: "/svc pending", timeoutSeconds: 30 };
  const asked: string[] = [];
  host.model.play(({ words, results }) => {
    if (words.includes("/svc pending")) return "I am a model.";
    // Only once: the host lets the two conversations talk on by themselves.
    if (asked.length > 0) return results.at(-1) ?? "Enough.";
    asked.push(words);
    return { tool: "sessions_send", args: send };
  });
  expect(await say("Ask the other one what waits.")).toContain("I am a model.");
});

test("the command line asks the running gateway, but not for the agent's own shell", async () => {
  expect(JSON.parse(await mustRunOpenClaw(host.state, ["svc", "pending", "--json"]))).toEqual([]);
  const fromShell = await runOpenClaw(host.state, ["svc", "pending"], { OPENCLAW_SHELL: "exec" });
  expect(fromShell).toMatchObject({ code: 4, stderr: expect.stringContaining("for a human") });
}, 300_000);

test("the key is in the host's store and nowhere else", async () => {
  const holders: string[] = [];
  for (const file of await readdir(host.state.folder, { recursive: true, withFileTypes: true })) {
    const path = join(file.parentPath, file.name);
    if (!file.isFile() || /\/node_modules\//.test(path)) continue;
    // The gateway goes on working: what was there a moment ago may be gone.
    const text = await readFile(path, "latin1").catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      return "";
    });
    if (KEY.test(text)) holders.push(file.name);
  }
  expect(new Set(holders.map((name) => name.replace(/-wal$/, "")))).toEqual(new Set(["openclaw.sqlite"]));
  expect(host.gateway.output()).not.toMatch(KEY);
  expect(JSON.stringify(operator.events)).not.toMatch(KEY);
});

test("openclaw svc unpair takes key and tools away from the running gateway, and says what stays", async () => {
  const said = await throughReload(host.state, () => mustRunOpenClaw(host.state, ["svc", "unpair", "--yes"]));
  expect(said).toMatch(/^Unpaired[\s\S]*revokes keys only in its dashboard/);
  expect((await invoke("drive_list_files")).status).toBe(404);
  expect((await invoke("svc_search_tools", { query: "list files" })).text).toContain("not paired");
  expect(JSON.stringify(await host.state.readConfig())).not.toContain("actions-plugin");
}, 300_000);

test("openclaw svc unpair is enough where nothing was synced, too", async () => {
  expect(await login("approve")).toContain("login complete");
  expect((await invoke("svc_search_tools", { query: "list files" })).text).toContain("drive_list_files");
  await mustRunOpenClaw(host.state, ["svc", "unpair", "--yes"]);
  expect(await say("/svc status")).toContain("Not paired");
}, 300_000);

/** An API key of the service. */
const KEY = /svc_live_[\w-]{20,}/;
