import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FakeBuiltModel } from "@langchain/core/testing";
import { DynamicStructuredTool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { SvcToolkit, type SvcToolkitOptions } from "../../../../src/langchain.ts";
import type { Approver } from "../../../../src/plugin/calls/ask/request.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater, makeFolder, sayYes } from "../../calls/open-test-session.ts";
import { type Adapter, resume } from "./adapters.ts";
import {
  answerAll,
  ask,
  config,
  expectNothingDangling,
  list,
  note,
  readAsked,
  readResults,
  readStatuses,
  readTitles,
  script,
} from "./agent-kit.ts";
import { FileSaver } from "./file-saver.ts";

/** One contract for every way to run tools; the service's effect log is the judge. */

let service: TestService;

async function open(change: Partial<SvcToolkitOptions> = {}): Promise<SvcToolkit> {
  // Without keys the journal alone keeps a write from being made twice.
  const keyless = { integrations: ["notes", "drive"], idempotencyKeys: "off" } as const;
  const options = { baseUrl: service.url, apiKey: service.apiKey, ...keyless, ...change };
  return closeLater(await SvcToolkit.create(options));
}

async function start(adapter: Adapter, model: FakeBuiltModel, change: Partial<SvcToolkitOptions> = {}) {
  return adapter.start({ toolkit: await open(change), model, checkpointer: new MemorySaver() });
}

/** The tests of these ways to run tools. */
export function describeAdapters(adapters: readonly Adapter[]): void {
  beforeEach(async () => {
    service = closeLater(await startTestService());
  });
  afterEach(closeAll);

  describe.each(adapters)("$name", (adapter) => {
    it("reads without asking", async () => {
      const agent = await start(adapter, script([list("r1")]));
      const state = await agent.invoke(ask, config);
      expect(state.__interrupt__ ?? []).toEqual([]);
      expect(readStatuses(state)).toEqual(["succeeded"]);
      expect(await service.effects()).toEqual([]);
    });

    it("runs an approved write exactly once", async () => {
      const agent = await start(adapter, script([note("w1")]));
      const stopped = await agent.invoke(ask, config);
      expect(readAsked(stopped)).toHaveLength(1);
      expect(await service.effects()).toEqual([]);
      const state = await agent.invoke(resume({ decisions: [{ type: "approve" }] }), config);
      expect(readStatuses(state)).toEqual(["succeeded"]);
      expect(await readTitles(service)).toEqual(["w1"]);
      expectNothingDangling(state);
    });

    it("runs nothing for a declined write, and says so to the model", async () => {
      const agent = await start(adapter, script([note("w1")]));
      await agent.invoke(ask, config);
      const state = await agent.invoke(resume({ decisions: [{ type: "reject", message: "not today" }] }), config);
      expect(readStatuses(state)).toEqual(["declined"]);
      expect(String(readResults(state)[0]?.content)).toContain("not today");
      expect(await service.effects()).toEqual([]);
      expectNothingDangling(state);
    });

    it("takes separate decisions for parallel writes beside a read", async () => {
      const agent = await start(adapter, script([note("yes"), list("r1"), note("no"), note("also")]));
      const first = await agent.invoke(ask, config);
      const decide = (title: unknown) => ({ type: title === "no" ? "reject" : "approve" });
      const { state, interrupts } = await answerAll(agent, first, decide);
      expect(interrupts).toEqual(adapter.asks === "batch" ? [1] : [1, 1, 1]);
      expect(await readTitles(service)).toEqual(["also", "yes"]);
      expect(readStatuses(state).toSorted()).toEqual(["declined", "succeeded", "succeeded", "succeeded"]);
      expectNothingDangling(state);
    });

    it("lets no plain answer approve two writes", async () => {
      const agent = await start(adapter, script([note("a"), note("b")]));
      await agent.invoke(ask, config);
      const state = await agent.invoke(resume(true), config);
      // Where questions come one after the other, the answer counted for the one that was shown.
      expect(await readTitles(service)).toEqual(adapter.asks === "batch" ? [] : ["a"]);
      expect(readAsked(state).map(({ title }) => title)).toEqual(adapter.asks === "batch" ? ["a", "b"] : ["b"]);
    });

    it("approves nothing by the last answer, which a graph that goes on without one hands out again", async () => {
      // In one task, LangGraph's own interrupt cannot tell it from a new answer either.
      if (adapter.asks === "serial") return;
      const agent = await start(adapter, script([note("a"), note("b")]));
      await agent.invoke(ask, config);
      for (const input of [resume(true), null, null]) await agent.invoke(input, config);
      expect(await readTitles(service)).toEqual(adapter.asks === "batch" ? [] : ["a"]);
    });

    it("binds a decision to the request it names", async () => {
      const agent = await start(adapter, script([note("a"), note("b")]));
      let state = await agent.invoke(ask, config);
      const named = readAsked(state).find(({ title }) => title === "a");
      state = await agent.invoke(resume({ [String(named?.id)]: { type: "approve" } }), config);
      // A batch runs once all of it is decided.
      expect(await readTitles(service)).toEqual(adapter.asks === "batch" ? [] : ["a"]);
      expect(readAsked(state).map(({ title }) => title)).toEqual(["b"]);
      state = await agent.invoke(resume({ [String(readAsked(state)[0]?.id)]: false }), config);
      expect(readStatuses(state).toSorted()).toEqual(["declined", "succeeded"]);
      expect(await readTitles(service)).toEqual(["a"]);
    });

    it("checks an edit and runs what the human typed", async () => {
      const agent = await start(adapter, script([note("w1")]));
      const stopped = await agent.invoke(ask, config);
      const { id } = (stopped.__interrupt__ ?? [])[0] ?? { id: "" };
      const edited = (args: Record<string, unknown>) => ({
        decisions: [{ type: "edit", editedAction: { name: "notes_create_page", args } }],
      });
      const again = await agent.invoke(resume({ [id]: edited({ title: ["not", "text"] }) }), config);
      expect(await service.effects()).toEqual([]);
      expect(JSON.stringify(again.__interrupt__)).toContain("Your edit cannot be used");
      const state = await agent.invoke(resume(edited({ title: "typed", body: "text" })), config);
      expect(await readTitles(service)).toEqual(["typed"]);
      expect(readStatuses(state)).toEqual(["succeeded"]);
      expectNothingDangling(state);
    });

    it("sends nothing again after a step back in time", async () => {
      const agent = await start(adapter, script([note("w1")]));
      const first = await agent.invoke(ask, config);
      await answerAll(agent, first, () => ({ type: "approve" }));
      expect(await readTitles(service)).toEqual(["w1"]);
      for await (const past of agent.getStateHistory(config)) {
        if (!past.next.some((node) => node === "tools")) continue;
        const state = await agent.invoke(null, past.config).catch((error: unknown) => error);
        expect(JSON.stringify(state)).not.toContain("not known whether");
      }
      expect(await readTitles(service)).toEqual(["w1"]);
    });

    it("keeps keys, paths and stacks out of the conversation", async () => {
      const stateDir = await makeFolder();
      const agent = await start(
        adapter,
        script([note("w1"), { name: "drive_read_file", args: { path: 5 }, id: "bad" }]),
        {
          stateDir,
        },
      );
      const first = await agent.invoke(ask, config);
      const { state } = await answerAll(agent, first, () => ({ type: "approve" }));
      const transcript = JSON.stringify(state.messages.map((message) => [message.getType(), message.content]));
      expect(transcript).not.toContain(service.apiKey);
      expect(transcript).not.toContain("svc_live_");
      expect(transcript).not.toContain(service.dataDir);
      expect(transcript).not.toContain(stateDir);
      expect(transcript).not.toMatch(/node_modules|\.[jt]s:\d+|\bat \w+ \(/);
    });

    it("goes on in a new process after this one was killed while it waited", async () => {
      const file = join(await makeFolder(), "checkpoints");
      await killAt("asked", adapter, file, "");
      const model = script();
      const agent = await adapter.start({ toolkit: await open(), model, checkpointer: new FileSaver(file) });
      const state = await agent.invoke(resume({ decisions: [{ type: "approve" }] }), config);
      expect(await readTitles(service)).toEqual(["w1"]);
      expect(readStatuses(state)).toEqual(["succeeded"]);
      expectNothingDangling(state);
    });

    it("sends nothing again after it was killed between the effect and the next checkpoint", async () => {
      const file = join(await makeFolder(), "checkpoints");
      const stateDir = await makeFolder();
      await killAt("finished", adapter, file, stateDir);
      expect(await readTitles(service)).toEqual(["w1"]);
      const toolkit = await open({ stateDir });
      const agent = await adapter.start({ toolkit, model: script(), checkpointer: new FileSaver(file) });
      const state = await agent.invoke(null, config);
      expect(readStatuses(state)).toEqual(["succeeded"]);
      expect(await readTitles(service)).toEqual(["w1"]);
    });

    it("makes the write once after it was killed between the approval and the request", async () => {
      const file = join(await makeFolder(), "checkpoints");
      const stateDir = await makeFolder();
      await killAt("sending", adapter, file, stateDir);
      expect(await service.effects()).toEqual([]);
      // The same key as before: the service would know the request if it had left.
      const toolkit = await open({ stateDir, idempotencyKeys: "when_known" });
      const agent = await adapter.start({ toolkit, model: script(), checkpointer: new FileSaver(file) });
      const state = await agent.invoke(null, config);
      expect(readStatuses(state)).toEqual(["succeeded"]);
      expect(await readTitles(service)).toEqual(["w1"]);
      expectNothingDangling(state);
    });

    it("makes no write again when the task is run again because a sibling asked something", async () => {
      const question = new DynamicStructuredTool({
        name: "ask_user",
        description: "Asks.",
        schema: z.object({}),
        func: async (_input, _run, run) =>
          (run as { interrupt?: (value: unknown) => unknown } | undefined)?.interrupt?.("?"),
      });
      const approve: Approver = async (request) => sayYes(request);
      const written = Promise.withResolvers<void>();
      const onEvent: SvcToolkitOptions["onEvent"] = ({ type }) => {
        if (type === "finished") written.resolve();
      };
      const toolkit = await open({ approve, askThrough: "callback", onEvent });
      const model = script([note("w1"), { name: "ask_user", args: {}, id: "q1" }]);
      const agent = await adapter.start({ toolkit, model, checkpointer: new MemorySaver(), more: [question] });
      const stopped = await agent.invoke(ask, config);
      await written.promise;
      // A retry middleware swallows the interrupts of other tools; that is not ours to mend.
      const isSwallowed = adapter.name.includes("retry");
      expect(stopped.__interrupt__ ?? []).toHaveLength(isSwallowed ? 0 : 1);
      const state = isSwallowed ? stopped : await agent.invoke(resume("blue"), config);
      if (!isSwallowed) expect(readResults(state).map((message) => message.content)).toContain("blue");
      expect(await readTitles(service)).toEqual(["w1"]);
      expectNothingDangling(state);
    });
  });
}

const CHILD = fileURLToPath(new URL("./agent-child.ts", import.meta.url));

/** Starts the agent in a process of its own and kills it, without warning, at `place`. */
async function killAt(
  place: "asked" | "finished" | "sending",
  adapter: Adapter,
  file: string,
  stateDir: string,
): Promise<void> {
  const args = [CHILD, adapter.name, service.url, service.apiKey, file, stateDir, place];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    if (printed.includes(`at ${place}\n`)) break;
  }
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  expect(printed).toContain(`at ${place}\n`);
}
