import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { Action, Integration } from "../../../src/apps/port/integration.ts";
import { createAccess } from "../../../src/service/access/access-view.ts";
import type { Rule } from "../../../src/service/access/rules.ts";
import { createGrants } from "../../../src/service/auth/grants.ts";
import { createCatalog } from "../../../src/service/catalog/catalog.ts";
import type { Connection, Connections } from "../../../src/service/connections/connection.ts";
import { createExecutor } from "../../../src/service/executions/execute-tool.ts";
import { createExecutionLog } from "../../../src/service/executions/execution-log.ts";
import { createUrlFiles } from "../../../src/service/fetch/url-files.ts";
import { createBlobStore } from "../../../src/service/files/blob-store.ts";
import { defineTemplate, type FlowTemplate } from "../../../src/service/flows/flow-template.ts";
import { createTemplates } from "../../../src/service/flows/flow-templates.ts";
import { type Flows, openFlows } from "../../../src/service/flows/flows.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { openStore, type Store } from "../../../src/service/store/open-store.ts";
import { createId } from "../../../src/shared/base/ids.ts";
import type { FlowView } from "../../../src/shared/wire/flow.ts";

/** What the lab's actions did and shall do. */
interface FlowLab {
  /** `<action>:<title>` of every action that began, in order. */
  readonly ran: string[];
  /** Answers of the next calls: a failure, or a promise that holds the call up. Afterwards calls succeed. */
  readonly next: (ServiceError | Promise<unknown>)[];
  /** Milliseconds since the epoch; change it to let time pass. */
  time: number;
  /** What the flows logged as errors. */
  readonly errors: string[];
}

/** Flows with the lab's app and templates, on a store of their own. */
export interface TestFlows {
  readonly flows: Flows;
  readonly lab: FlowLab;
  readonly store: Store;
  /** Opens the flows again over the same store, as another process would after this one died. */
  open(): Promise<Flows>;
  /** Resolves when the log has every read that has ended. */
  flush(): Promise<void>;
}

const ACCOUNT = "acc_test";
export const principal = { accountId: ACCOUNT, apiKeyId: "key_test" };

const titles = z.strictObject({ titles: z.array(z.string()).default(["one"]), seconds: z.int().default(0) });
const call = (title: string, key = title) => ({ key, label: `"${title}"`, arguments: { title } });
const collect = (results: readonly unknown[]) => ({ done: results.length, results });
const facts = (key: string) => ({
  key,
  name: `Name of ${key}`,
  description: "For tests.",
  connectionFields: { lab: "labId" },
  tools: ["lab_look", "lab_put", "lab_set"],
});

/** Templates that use every type of step. */
const labTemplates: readonly FlowTemplate[] = [
  defineTemplate({
    ...facts("chain"),
    input: titles,
    steps: [
      {
        key: "read",
        type: "tool_call",
        app: "lab",
        plan: () => ({ toolName: "lab_look", calls: [call("things")], collect: ([found]) => found }),
      },
      { key: "build", type: "transform", run: ({ input }) => ({ titles: input.titles }) },
      {
        key: "approve",
        type: "approval",
        skip: ({ input }) => input.titles.length === 0,
        show: ({ input }) => ({ message: `Put ${input.titles.length}?`, titles: input.titles }),
      },
      {
        key: "put",
        type: "tool_call",
        app: "lab",
        skip: ({ input }) => input.titles.length === 0,
        plan: ({ input }) => ({ toolName: "lab_put", calls: input.titles.map((title) => call(title)), collect }),
      },
      { key: "report", type: "transform", run: ({ outputs }) => outputs.put ?? null },
    ],
  }),
  defineTemplate({
    ...facts("later"),
    input: titles,
    steps: [
      { key: "wait", type: "wait", until: ({ startedAt, input }) => startedAt + input.seconds * 1000 },
      {
        key: "read",
        type: "tool_call",
        app: "lab",
        plan: () => ({ toolName: "lab_look", calls: [call("late")], collect: ([found]) => found }),
      },
    ],
  }),
  defineTemplate({
    ...facts("bold"),
    input: titles,
    steps: [
      {
        key: "put",
        type: "tool_call",
        app: "lab",
        plan: () => ({ toolName: "lab_put", calls: [call("unasked")], collect }),
      },
    ],
  }),
  defineTemplate({
    ...facts("careful"),
    input: titles,
    steps: [
      { key: "approve", type: "approval", show: () => ({ message: "Put and set?" }) },
      {
        key: "set",
        type: "tool_call",
        app: "lab",
        plan: () => ({ toolName: "lab_set", calls: [call("state")], collect }),
      },
      {
        key: "put",
        type: "tool_call",
        app: "lab",
        plan: () => ({
          toolName: "lab_put",
          calls: [
            {
              ...call("findable"),
              find: {
                toolName: "lab_look",
                arguments: { title: "was it put?" },
                pick: (output) => z.object({ put: z.unknown().optional() }).parse(output).put,
              },
            },
          ],
          collect,
        }),
      },
    ],
  }),
];

/** The lab's app. What was put can be looked at. */
function createLabApp(lab: FlowLab): Integration {
  const put = new Map<string, unknown>();
  const action = (
    id: string,
    facts: Pick<Action, "level" | "idempotent">,
    run: (title: string) => unknown,
  ): Action => ({
    ...facts,
    id,
    title: id,
    description: id,
    requiresConfirmation: facts.level !== "read",
    scopes: [],
    inputSchema: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
    async run({ title }) {
      lab.ran.push(`${id}:${title}`);
      const answer = lab.next.shift();
      if (answer instanceof ServiceError) throw answer;
      await answer;
      return run(String(title));
    },
  });
  return {
    slug: "lab",
    name: "Lab",
    description: "Things for tests.",
    category: "tests",
    scopes: [],
    actions: [
      action("look", { level: "read", idempotent: true }, () => ({ seen: put.size, put: [...put.values()].at(-1) })),
      action("put", { level: "write", idempotent: false }, (title) => {
        put.set(title, { title });
        return { title };
      }),
      action("set", { level: "write", idempotent: true }, (title) => ({ title })),
    ],
    async checkSettings() {},
  };
}

const connection: Connection = {
  id: "con_lab",
  integration: "lab",
  label: "Lab",
  settings: {},
  scopes: [],
  state: "healthy",
  isDefault: true,
};
const refuse = async () => {
  throw new TypeError("The lab's connection does not change.");
};
const connections: Connections = { list: async () => [connection], add: refuse, update: refuse, remove: refuse };

/** Opens flows over a new store; `cleanUp` is given what ends them. */
export async function openTestFlows(o: {
  /** Milliseconds to wait for a flow before it is answered as it is. */
  settleMs?: number;
  /** What the flows see of the store. Default: the store. */
  look?: (store: Store) => Store;
  /** In force from the next call on. Default: none. */
  rules?: readonly Rule[];
  onEnd: (cleanUp: () => Promise<unknown>) => void;
}): Promise<TestFlows> {
  const dataDir = await mkdtemp(join(tmpdir(), "svc-flows-"));
  o.onEnd(() => rm(dataDir, { recursive: true, force: true }));
  const store = await openStore(join(dataDir, "svc.db"));
  o.onEnd(() => store.destroy());
  const lab: FlowLab = { ran: [], next: [], time: Date.parse("2026-11-20T10:00:00Z"), errors: [] };
  const now = () => lab.time;
  const catalog = createCatalog([createLabApp(lab)]);
  await mkdir(join(dataDir, "blobs"));
  const blobs = createBlobStore({ dir: join(dataDir, "blobs"), now });
  let flush = async () => {};
  const open = async () => {
    const id = createId("node");
    const log = createExecutionLog(store, now, { nodeId: id });
    flush = log.flush;
    await log.closeAbandoned();
    const rules = { list: async () => [...(o.rules ?? [])] };
    const access = createAccess({
      states: { read: async () => ({ mark: "" }) },
      grants: createGrants(store, now),
      catalog,
      connections,
      rules,
      now,
    });
    const executor = createExecutor({
      access,
      catalog,
      connections,
      log,
      now,
      providerTimeoutMs: 30_000,
      onUnexpected: (cause) => lab.errors.push(String(cause)),
    });
    const flows = await openFlows({
      store: o.look?.(store) ?? store,
      node: { id, isShared: false, listAlive: async () => [id], onBeat() {} },
      onWaiting: { async add() {}, wake() {} },
      executor,
      access,
      catalog,
      connections,
      files: { blobs, ingestTokens: undefined, urlFiles: createUrlFiles({ blobs, allowed: new Set() }) },
      templates: createTemplates(labTemplates),
      now,
      log: ({ level, message }) => level === "error" && lab.errors.push(message),
      settleMs: o.settleMs ?? 10_000,
    });
    o.onEnd(() => flows.close());
    return flows;
  };
  return { flows: await open(), lab, store, open, flush: () => flush() };
}

/** Starts a flow of the lab. */
export function start(flows: Flows, templateKey: string, input: Record<string, unknown> = {}): Promise<FlowView> {
  return flows.start({ principal, templateKey, input, triggerType: "agent" });
}

/** What the moves of the lab's account are called with. */
export const by = { by: "test" };

/** `key:status:attempts` of each step. */
export function listSteps({ steps }: FlowView): string[] {
  return steps.map(({ stepKey, status, attemptCount }) => `${stepKey}:${status}:${attemptCount}`);
}

/** Reads a flow until it is as wanted. */
export async function waitFor(flows: Flows, id: string, isThere: (view: FlowView) => boolean): Promise<FlowView> {
  for (let tries = 0; tries < 1000; tries++) {
    const view = await flows.get(ACCOUNT, id);
    if (isThere(view)) return view;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`The flow stays ${JSON.stringify(await flows.get(ACCOUNT, id))}`);
}
