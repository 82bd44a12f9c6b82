import * as errors from "@langchain/core/errors";
import { MemorySaver } from "@langchain/langgraph";
import { type AgentMiddleware, createAgent, toolRetryMiddleware } from "langchain";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ProgressEvent, SvcToolkit, type SvcToolkitOptions } from "../../../../src/langchain.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater, sayYes } from "../../calls/open-test-session.ts";
import { createTool, startScriptedService } from "../../calls/scripted-service.ts";
import { findAdapter } from "./adapters.ts";
import { ask, config, list, note, script } from "./agent-kit.ts";

/** Progress and abort. */

/** What LangChain reads of an error; its first versions with such a mark had no function for that. */
const getRetryable: (error: unknown) => unknown =
  "getRetryable" in errors
    ? errors.getRetryable
    : (error) => (error as Record<symbol, unknown>)[Symbol.for("langchain.errors.retryable")];

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

async function open(change: Partial<SvcToolkitOptions> = {}): Promise<SvcToolkit> {
  const approve: SvcToolkitOptions["approve"] = async (request) => sayYes(request);
  return closeLater(await SvcToolkit.create({ baseUrl: service.url, apiKey: service.apiKey, approve, ...change }));
}

const STEPS = ["waiting_for_approval", "sending", "finished"];
const readSteps = (events: readonly unknown[]) => events.map((event) => (event as ProgressEvent).step);

describe("progress", () => {
  it("reaches callbacks as a custom event and as a tool event", async () => {
    const [custom, tool]: unknown[][] = [[], []];
    const callbacks = [
      {
        handleCustomEvent: (name: string, data: unknown) => name === "svc_progress" && custom?.push(data),
        handleToolEvent: (data: unknown) => void tool?.push(data),
      },
    ];
    const found = (await open()).getTools().find(({ name }) => name === "notes_create_page");
    await found?.invoke({ type: "tool_call", ...note("w1") }, { callbacks });
    expect(readSteps(custom ?? [])).toEqual(STEPS);
    expect(readSteps(tool ?? [])).toEqual(STEPS);
    expect(custom?.at(-1)).toEqual({
      type: "svc_progress",
      tool: "notes_create_page",
      toolCallId: "w1",
      step: "finished",
      status: "succeeded",
    });
  });

  it("costs neither call nor process when a callback fails that LangChain waits for", async () => {
    const unhandled: unknown[] = [];
    const keep = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", keep);
    const fail = () => {
      throw new Error("the trace is full");
    };
    const callbacks = [{ awaitHandlers: true, raiseError: true, handleCustomEvent: fail, handleToolEvent: fail }];
    const found = (await open()).getTools().find(({ name }) => name === "notes_create_page");
    const message: unknown = await found?.invoke({ type: "tool_call", ...note("w1") }, { callbacks });
    process.off("unhandledRejection", keep);
    expect(message).toMatchObject({ artifact: { status: "succeeded" } });
    expect(unhandled).toEqual([]);
  });

  it("reaches a graph's custom stream, each call's under its own id", async () => {
    const tools = (await open()).getTools();
    const agent = createAgent({ model: script([note("w1"), list("r1")]), tools });
    const seen: ProgressEvent[] = [];
    for await (const event of await agent.stream(ask, { streamMode: "custom" })) seen.push(event as ProgressEvent);
    const of = (id: string) => readSteps(seen.filter((event) => event.toolCallId === id));
    expect(of("w1")).toEqual(STEPS);
    expect(of("r1")).toEqual(["sending", "finished"]);
  });

  it("reaches the streams whatever the listener of the session does", async () => {
    const told = new Set<string>();
    const toolkit = await open({
      onEvent: ({ type }) => {
        told.add(type);
        throw new Error("the log is full");
      },
    });
    const agent = createAgent({
      model: script([note("w1")]),
      tools: toolkit.getTools({ tools: ["notes_create_page", "notes_craete_page"] }),
    });
    const seen: unknown[] = [];
    for await (const event of await agent.stream(ask, { streamMode: "custom" })) seen.push(event);
    expect(readSteps(seen)).toEqual(STEPS);
    const start = toolkit.findTool("svc_start_flow");
    const args = { template: "notes_reminder", input: { text: "Water the plants", delaySeconds: 1 } };
    const started = await start?.invoke({ type: "tool_call", id: "f1", name: "svc_start_flow", args });
    expect(JSON.parse(String(started.content))).toMatchObject({ status: "succeeded" });
    expect([...told]).toEqual(expect.arrayContaining(["tools_not_found", "finished", "flow_progress"]));
    expect(await service.effects()).toHaveLength(1);
  });

  it("that nobody can take does not cost the call", async () => {
    const found = (await open()).getTools().find(({ name }) => name === "notes_create_page");
    const writer = () => {
      throw new Error("closed");
    };
    const callbacks = [{ handleCustomEvent: () => Promise.reject(new Error("broken")) }];
    const run = { callbacks, writer };
    const message: unknown = await found?.invoke({ type: "tool_call", ...note("w1") }, run);
    expect(message).toMatchObject({ artifact: { status: "succeeded" } });
  });
});

describe("a tool's name", () => {
  it.each(["drive_list_files", "svc_status"])("stands in events and in the stream of tools: %s", async (name) => {
    const start = async () => {
      const tools = (await open()).getTools();
      return createAgent({ model: script([{ name, args: {}, id: "r1" }]), tools });
    };
    const events: string[] = [];
    for await (const event of (await start()).streamEvents(ask, { version: "v2" })) {
      if (event.event.startsWith("on_tool")) events.push(`${event.event} ${event.name}`);
    }
    expect(events).toEqual([`on_tool_start ${name}`, `on_tool_end ${name}`]);
    const streamed = new Set<string>();
    for await (const event of await (await start()).stream(ask, { streamMode: "tools" })) streamed.add(event.name);
    expect([...streamed]).toEqual([name]);
  });

  it("gives way to the name that the caller gives the run", async () => {
    const names: unknown[] = [];
    const tool = (await open()).getTools().find(({ name }) => name === "drive_list_files");
    const callbacks = [{ handleToolStart: (...args: unknown[]) => void names.push(args[6]) }];
    await tool?.invoke({}, { callbacks, runName: "mine" });
    await tool?.invoke({}, { callbacks });
    expect(names).toEqual(["mine", "drive_list_files"]);
  });
});

describe("abort", () => {
  it("before the call: nothing is asked and nothing is sent", async () => {
    const found = (await open()).getTools().find(({ name }) => name === "notes_create_page");
    const run = found?.invoke({ type: "tool_call", ...note("w1") }, { signal: AbortSignal.abort() });
    await expect(run).rejects.toMatchObject({ name: "AbortError" });
    expect(await service.effects()).toEqual([]);
  });

  it("during the question: nothing is sent, and no retry is wanted", async () => {
    const control = new AbortController();
    const approve: SvcToolkitOptions["approve"] = () => {
      control.abort();
      return new Promise(() => undefined);
    };
    const found = (await open({ approve })).getTools().find(({ name }) => name === "notes_create_page");
    const run = found?.invoke({ type: "tool_call", ...note("w1") }, { signal: control.signal });
    const error: unknown = await run?.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "AbortError" });
    expect(getRetryable(error)).toBe(false);
    expect(await service.effects()).toEqual([]);
  });

  it("is not kept waiting by a callback that never answers", async () => {
    const control = new AbortController();
    const hang = () => new Promise<never>(() => undefined);
    const callbacks = [{ awaitHandlers: true, handleCustomEvent: hang }];
    const approve: SvcToolkitOptions["approve"] = () => {
      control.abort();
      return hang();
    };
    const found = (await open({ approve })).getTools().find(({ name }) => name === "notes_create_page");
    const run = found?.invoke({ type: "tool_call", ...note("w1") }, { signal: control.signal, callbacks });
    await expect(run).rejects.toMatchObject({ name: "AbortError" });
  }, 10_000);

  it("while the request is on its way: the same call is not sent again", async () => {
    const scripted = closeLater(await startScriptedService());
    scripted.offer(createTool("probe_write", "write"));
    scripted.answer("/api/tools/probe_write/execute", { hang: true });
    const control = new AbortController();
    const toolkit = await open({ baseUrl: scripted.url, apiKey: "svc_live_test" });
    const found = toolkit.getTools().find(({ name }) => name === "probe_write");
    const call = { type: "tool_call", name: "probe_write", args: { text: "x" }, id: "w1" } as const;
    const aborted = expect(found?.invoke(call, { ...config, signal: control.signal })).rejects.toMatchObject({
      name: "AbortError",
    });
    await scripted.whenExecuted;
    control.abort();
    await aborted;
    expect(await found?.invoke(call, config)).toMatchObject({ artifact: { status: "unknown" } });
    expect(scripted.executed()).toHaveLength(1);
  });

  it("by the run's time limit rejects as LangChain's own tools do", async () => {
    const approve: SvcToolkitOptions["approve"] = () => new Promise(() => undefined);
    const found = (await open({ approve })).getTools().find(({ name }) => name === "notes_create_page");
    const run = found?.invoke({ type: "tool_call", ...note("w1") }, { timeout: 20 });
    const error: unknown = await run?.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "TimeoutError" });
    expect(getRetryable(error)).toBe(false);
    expect(await service.effects()).toEqual([]);
  });

  it("is not tried again by a retry middleware", async () => {
    const control = new AbortController();
    let asked = 0;
    const approve: SvcToolkitOptions["approve"] = () => {
      asked += 1;
      control.abort();
      return new Promise(() => undefined);
    };
    const tools = (await open({ approve })).getTools();
    const middleware: AgentMiddleware[] = [toolRetryMiddleware({ maxRetries: 3, initialDelayMs: 1 })];
    const agent = createAgent({ model: script([note("w1")]), tools, middleware });
    await agent.invoke(ask, { signal: control.signal }).catch(() => undefined);
    expect(asked).toBe(1);
    expect(await service.effects()).toEqual([]);
  });

  it("leaves an interrupted run as it is", async () => {
    const adapter = findAdapter("createAgent");
    const agent = await adapter.start({
      toolkit: await open({ askThrough: "interrupt" }),
      model: script([note("w1")]),
      checkpointer: new MemorySaver(),
    });
    const stopped = await agent.invoke(ask, config);
    expect(getRetryable(stopped)).toBeUndefined();
    await agent.invoke(null, { ...config, signal: AbortSignal.abort() }).catch(() => undefined);
    expect((await agent.invoke(null, config)).__interrupt__).toHaveLength(1);
    expect(await service.effects()).toEqual([]);
  });
});
