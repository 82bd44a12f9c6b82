import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPins, type PinMode } from "../../../../src/plugin/calls/catalog/pins.ts";
import { expectMode } from "../../../suites/this-system.ts";
import { closeAll, closeLater, makeFolder, openTestSession, sayNo, sayYes } from "../open-test-session.ts";
import { createTool, type ScriptedService, startScriptedService } from "../scripted-service.ts";

/** Tools that are new or changed since a human pinned them. */

let service: ScriptedService;
let stateDir: string;

beforeEach(async () => {
  service = closeLater(await startScriptedService());
  stateDir = await makeFolder();
  service.offer(createTool("probe_write", "write"));
  service.offer(createTool("probe_read", "read"));
  for (const name of ["probe_write", "probe_read", "probe_new", "probe_peek"]) {
    service.answer(`/api/tools/${name}/execute`, { status: 200, body: { ok: true, result: 1 } });
  }
});
afterEach(closeAll);

const file = () => join(stateDir, "tools.lock.json");
const call = (toolName: string, callId = "c1") => ({ callId, toolName, arguments: { text: "a" } });

/** A session with what the service offers now pinned, and a standing permission for probe_write. */
async function pinEverything() {
  const session = await openTestSession(service, { stateDir, answer: sayYes });
  await session.catalog.sync();
  for (const { name } of session.catalog.list()) await session.catalog.find(name);
  await session.pins.pin(session.catalog.list());
  await session.close();
}

const open = (pinning?: PinMode) => openTestSession(service, { stateDir, answer: sayYes, pinning });

const CHANGED = { type: "object", properties: { text: { type: "string" }, bcc: { type: "string" } } };

describe("with a pin file", () => {
  it("says nothing about tools as they were pinned", async () => {
    await pinEverything();
    const session = await open();
    await session.call(call("probe_write"));
    expect(session.asked[0]?.reason).not.toContain("pinned");
    expect(session.events.map(({ type }) => type)).not.toContain("tool_not_pinned");
  });

  it.each([
    ["new", "probe_new", createTool("probe_new", "write"), "This tool is new"],
    [
      "changed in its arguments",
      "probe_write",
      createTool("probe_write", "write", { inputSchema: CHANGED }),
      "its arguments",
    ],
    ["now said to be a read", "probe_write", createTool("probe_write", "read"), "write before, read now"],
    ["now able to act", "probe_read", createTool("probe_read", "write"), "read before, write now"],
  ])("a tool that is %s has its reason on the card, once", async (_what, name, tool, reason) => {
    await pinEverything();
    service.offer(tool);
    const session = await open();
    expect((await session.call(call(name))).status).toBe("succeeded");
    expect(session.asked[0]?.reason).toContain(reason);
    expect(session.events).toContainEqual({ type: "tool_not_pinned", change: expect.objectContaining({ tool: name }) });
    await session.call(call(name, "c2"));
    expect(session.asked[1]?.reason ?? "").not.toContain("pinned");
    await session.close();
    const again = await open();
    await again.call(call(name, "c3"));
    expect(again.events.map(({ type }) => type)).not.toContain("tool_not_pinned");
  });

  it("a tool that changed after the approval is asked about again, also when the approval was not used yet", async () => {
    await pinEverything();
    const first = await openTestSession(service, { stateDir, answer: sayNo });
    await first.call(call("probe_write"));
    const { fingerprint } = first.asked[0]!;
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const approval = { id: "request", fingerprint, expiresAt };
    await first.journal.record({
      callId: "c2",
      fingerprint,
      state: "approved",
      at: Date.now(),
      tool: "probe_write",
      approval,
    });
    await first.close();
    service.offer(createTool("probe_write", "delete"));
    const session = await openTestSession(service, { stateDir, answer: sayNo });
    await session.catalog.sync();
    await session.catalog.refresh("probe_write");
    expect((await session.call(call("probe_write", "c2"))).status).toBe("declined");
    expect(session.asked[0]?.reason).toContain("write before, delete now");
    expect(service.executed()).toEqual([]);
  });

  it("a declined tool stays unknown and nothing is sent", async () => {
    await pinEverything();
    service.offer(createTool("probe_new", "write"));
    const session = await openTestSession(service, { stateDir, answer: sayNo });
    expect((await session.call(call("probe_new"))).status).toBe("declined");
    expect(service.executed()).toEqual([]);
    expect(session.pins.judge({ name: "probe_new", effect: "write", schemaHash: undefined })?.kind).toBe("new");
  });

  it("a standing permission does not reach a changed tool", async () => {
    await pinEverything();
    const session = await open();
    const subject = { principal: "", tool: "probe_write", connection: "k1", effect: "write" as const };
    await session.rules.allow({ ...subject, principal: (await readPrincipal()) ?? "" });
    await session.call({ ...call("probe_write"), connectionId: "k1" });
    expect(session.asked).toEqual([]);
    service.offer(createTool("probe_write", "write", { inputSchema: CHANGED }));
    await session.catalog.refresh("probe_write");
    await session.call({ ...call("probe_write", "c2"), connectionId: "k1" });
    expect(session.asked).toHaveLength(1);
  });

  it("a new read needs nobody's consent", async () => {
    await pinEverything();
    service.offer(createTool("probe_peek", "read"));
    const session = await open();
    expect((await session.call(call("probe_peek"))).status).toBe("succeeded");
    expect(session.asked).toEqual([]);
  });

  it("report mode tells the host and asks no more than before", async () => {
    await pinEverything();
    service.offer(createTool("probe_new", "write"));
    const session = await open("report");
    await session.call(call("probe_new"));
    expect(session.asked[0]?.reason).not.toContain("pinned");
    expect(session.events.map(({ type }) => type)).toContain("tool_not_pinned");
  });

  it("a damaged file, or one of another service, makes every tool that may act new, and is left alone", async () => {
    await pinEverything();
    const whole = await readFile(file(), "utf8");
    for (const text of ["{", whole.replace(service.url, "https://other.example")]) {
      await writeFile(file(), text);
      const session = await open();
      await session.call(call("probe_write", `c${text.length}`));
      expect(session.asked[0]?.reason).toContain("counts as new");
      expect(await readFile(file(), "utf8")).toBe(text);
      await session.close();
    }
  });

  it("is private, sorted and names effect and schema hash", async () => {
    await pinEverything();
    const text = await readFile(file(), "utf8");
    expectMode(file(), 0o600);
    expect(Object.keys(JSON.parse(text).tools)).toEqual(["probe_read", "probe_write"]);
    expect(JSON.parse(text).tools.probe_write).toEqual({
      effect: "write",
      schemaHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });
});

it("without a pin file nothing is compared", async () => {
  const session = await open();
  await session.call(call("probe_write"));
  expect(session.pins.mode).toBe("off");
  expect(session.events.map(({ type }) => type)).not.toContain("tool_not_pinned");
});

it("check names new, changed and gone tools that may act", async () => {
  const pins = await openPins({ file: undefined, mode: "report", service: "s", now: Date.now });
  const entry = (name: string, effect: "read" | "write", schemaHash: string) => ({ name, effect, schemaHash });
  await pins.pin([
    entry("kept", "write", "1"),
    entry("moved", "write", "1"),
    entry("lost", "write", "1"),
    entry("r", "read", "1"),
  ]);
  const found = pins.check([entry("kept", "write", "1"), entry("moved", "write", "2"), entry("added", "write", "1")]);
  expect(found.map(({ tool, kind }) => [tool, kind])).toEqual([
    ["moved", "changed"],
    ["added", "new"],
    ["lost", "gone"],
  ]);
});

async function readPrincipal(): Promise<string | undefined> {
  const { SvcClient } = await import("../../../../src/plugin/client/client.ts");
  const client = new SvcClient({ baseUrl: service.url, apiKey: "svc_live_test" });
  await client.close();
  return client.principal;
}
