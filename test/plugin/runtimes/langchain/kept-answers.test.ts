import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AIMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApprovalMiddleware, SvcToolkit, type SvcToolkitOptions } from "../../../../src/langchain.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater, makeFolder } from "../../calls/open-test-session.ts";
import { type AgentState, resume } from "./adapters.ts";
import { ask, config, note, readAsked, script } from "./agent-kit.ts";

/** A yes that an agent's state keeps, and the runs that come back to it. A new toolkit stands for a new process. */

const DAY = 24 * 60 * 60 * 1_000;
const yes = { decisions: [{ type: "approve" }] };

let service: TestService;
let media: string;
let shift: number;
beforeEach(async () => {
  service = closeLater(await startTestService());
  media = await makeFolder();
  shift = 0;
  await mkdir(join(media, "inbound"));
  await writeFile(join(media, "inbound", "a.txt"), "file\n");
});
afterEach(closeAll);

const file = { s3key: "media://inbound/a.txt" };
const UPLOAD = { name: "drive_upload_file", args: { file, name: "1", if_exists: "rename" }, id: "1" };
const MAIL = {
  name: "mail_send_message",
  args: { to: ["a@example.com"], subject: "Hello", body: "Text", attachments: [file] },
  id: "1",
};

/** An agent of a new process over the same conversation; `calls` is what its model asks for. */
function openAgents(change: Partial<SvcToolkitOptions> = {}) {
  const checkpointer = new MemorySaver();
  return async (...calls: Parameters<typeof script>) => {
    const now = () => Date.now() + shift;
    const { url: baseUrl, apiKey } = service;
    const toolkit = await SvcToolkit.create({ baseUrl, apiKey, mediaRoots: [media], now, ...change });
    closeLater(toolkit);
    const agent = createAgent({
      model: script(...calls).respond(new AIMessage("Done.")),
      tools: toolkit.getTools({ integrations: ["notes", "drive", "mail"] }),
      middleware: [await createApprovalMiddleware(toolkit)],
      checkpointer,
    });
    const invoke = async (input: unknown, run: object = config) =>
      (await agent.invoke(input as never, run)) as unknown as AgentState;
    return { toolkit, invoke, history: () => agent.graph.getStateHistory(config) };
  };
}

/** Goes on from the moment before the tools ran. */
async function replay({ invoke, history }: Awaited<ReturnType<ReturnType<typeof openAgents>>>): Promise<AgentState> {
  for await (const past of history()) if (past.next.includes("tools")) return invoke(null, past.config);
  throw new Error("The tools never ran.");
}

const count = async (name: string) => (await service.effects()).filter(({ toolName }) => toolName === name).length;

describe.each([UPLOAD, MAIL])("a yes to $name that a replay brings back", (call) => {
  it("is asked for again after its end, with a state folder", async () => {
    const start = openAgents({ stateDir: await makeFolder() });
    const before = await start([call]);
    await before.invoke(ask);
    await before.invoke(resume(yes));
    expect(await count(call.name)).toBe(1);
    await before.toolkit.close();
    shift = 8 * DAY;
    const other = await start([note("other")]);
    const elsewhere = { configurable: { thread_id: "other" } };
    await other.invoke(ask, elsewhere);
    await other.invoke(resume(yes), elsewhere);
    await other.toolkit.close();
    const asked = readAsked(await replay(await start()));
    expect(asked).toHaveLength(1);
    expect(await count(call.name)).toBe(1);
  });

  it("is asked for again in a process that knows nothing of it", async () => {
    const start = openAgents();
    const before = await start([call]);
    await before.invoke(ask);
    await before.invoke(resume(yes));
    const after = await start();
    expect(readAsked(await replay(after))).toHaveLength(1);
    expect(readAsked(await after.invoke(null))).toHaveLength(1);
    expect(await count(call.name)).toBe(1);
  });
});

it("an answer is asked for again when it has expired before the tools run", async () => {
  const { invoke } = await openAgents({ interruptTtlMs: 1_500 })([UPLOAD]);
  await invoke(ask);
  await invoke(resume(yes), { ...config, interruptBefore: ["tools"] });
  shift = 2_500;
  expect(readAsked(await invoke(null))).toHaveLength(1);
  expect(await service.effects()).toEqual([]);
});

describe("an answer that is kept before the tools run", () => {
  it.each([true, false])("counts in the process that has it, and elsewhere by the journal (%s)", async (isShared) => {
    const start = openAgents(isShared ? { stateDir: await makeFolder() } : {});
    const before = await start([UPLOAD]);
    await before.invoke(ask);
    await before.invoke(resume(yes), { ...config, interruptBefore: ["tools"] });
    const after = isShared ? await start() : before;
    expect(readAsked(await after.invoke(null))).toEqual([]);
    expect(await count(UPLOAD.name)).toBe(1);
  });
});

it("is not used again once the journal has forgotten the call", async () => {
  const agent = await openAgents()([UPLOAD]);
  await agent.invoke(ask);
  await agent.invoke(resume(yes));
  const { journal } = agent.toolkit.session;
  const find = journal.find.bind(journal);
  journal.find = (key) => (key.fingerprint.startsWith("step") ? find(key) : undefined);
  expect(readAsked(await replay(agent))).toHaveLength(1);
  expect(await count(UPLOAD.name)).toBe(1);
});
