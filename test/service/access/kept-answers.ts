import fc from "fast-check";
import { expect } from "vitest";
import type { Integration } from "../../../src/apps/port/integration.ts";
import { createRules } from "../../../src/service/access/rules.ts";
import { createSourceStore } from "../../../src/service/added/source-store.ts";
import type { openService } from "../../../src/service/open-service.ts";
import type { Store } from "../../../src/service/store/open-store.ts";
import type { KeyScopes } from "../../../src/shared/wire/key-scopes.ts";
import { call, execute } from "../http-calls.ts";
import { sendLegacy } from "../mcp/mcp-calls.ts";
import { APPS, answer, type Question, TOOLS, WIKI_IDS, type World } from "./kept-world.ts";

/** Processes on one store, whose time is `clock.time`. */
export interface Nodes {
  readonly services: readonly Awaited<ReturnType<typeof openService>>[];
  /** The store, as another program opens it. */
  readonly outside: Store;
  readonly clock: { time: number };
}

/** Apps with the actions of `APPS`; all do nothing. */
export const apps: readonly Integration[] = Object.entries(APPS).map(([slug, actions]) => ({
  slug,
  name: slug,
  description: "For tests.",
  category: "tests",
  scopes: [],
  actions: Object.entries(actions).map(([id, level]) => ({
    id,
    title: id,
    description: "Counts zebras.",
    level,
    requiresConfirmation: level !== "read",
    idempotent: false,
    scopes: [],
    inputSchema: { type: "object", properties: {} },
    run: async () => ({}),
  })),
  async checkSettings() {},
}));

/** What a key is asked for, as far as the model knows it. */
async function readAnswer(url: string, apiKey: string, { what, tool }: Question): Promise<unknown> {
  const get = (path: string) => call(`${url}${path}`, { key: apiKey });
  const [app = "", id = ""] = tool.split("_");
  switch (what) {
    case "list":
    case "search": {
      const { status, json } = await get(what === "list" ? "/api/tools?limit=200" : SEARCH);
      if (status !== 200) return status;
      // biome-ignore lint/suspicious/noExplicitAny: the answer of a service under test
      const tools = json.tools.map((one: any) => [
        one.name,
        one.integrationName,
        one.requiresConfirmation,
        one.connectionCount,
        one.defaultConnectionId,
        one.canonical.default_connection_state,
      ]);
      return tools.sort(byName);
    }
    case "describe": {
      const { status, json } = await get(`/api/tools/${tool}`);
      if (status !== 200) return status;
      const { integrationName, requiresConfirmation, connections } = json.tool;
      // biome-ignore lint/suspicious/noExplicitAny: the answer of a service under test
      const own = connections.map((one: any) => [one.id, one.label, one.isDefault, one.state]);
      return [integrationName, requiresConfirmation, own];
    }
    case "execute": {
      const { status, json } = await execute({ url, apiKey }, tool, { arguments: {} });
      if (status === 200) return "ok";
      return json.error.code === "unauthorized" ? status : json.error.code;
    }
    default: {
      const [name, args] =
        what === "mcp search"
          ? ["svc.search", { query: "zebras", limit: 100 }]
          : ["svc.execute", { integration_id: app, action_id: id, input: {} }];
      const { status, json } = await sendLegacy({ url, apiKey }, "tools/call", { name, arguments: args });
      if (status !== 200) return status;
      if (what === "mcp execute") return json.result.structuredContent.status === "succeeded";
      // biome-ignore lint/suspicious/noExplicitAny: the answer of a service under test
      const found = json.result.structuredContent.items.filter((one: any) => one.kind === "action");
      return found
        .map((one: Record<string, string>) => [
          `${one.integration_id}/${one.action_id}`,
          one.connected,
          one.connection_state,
        ])
        .sort(byName);
    }
  }
}

const SEARCH = "/api/tools/search?query=zebras&limit=200";
const byName = ([a]: readonly string[], [b]: readonly string[]) => ((a ?? "") < (b ?? "") ? -1 : 1);

const nat = fc.nat({ max: 1_000 });
const questionPlan = fc.record({
  what: fc.constantFrom<Question["what"]>("list", "search", "describe", "execute", "mcp search", "mcp execute"),
  /** Most often that of the change beside it. */
  other: fc.integer({ min: 0, max: 3 }).map((number) => number === 0),
  tool: fc.constantFrom(...TOOLS),
  node: nat,
});
const stepPlan = fc.record({
  change: fc.constantFrom(
    ...["scopes", "expiry", "revoke", "time", "connect", "disconnect", "state", "label"],
    ...["default", "rule", "rule", "unrule", "app", "unapp"],
  ),
  node: nat,
  at: nat,
  how: nat,
  key: fc.nat({ max: 1 }),
  /** Asked while the change is made. */
  during: fc.array(questionPlan, { maxLength: 3 }),
  /** Asked after it. */
  after: fc.array(questionPlan, { minLength: 1, maxLength: 4 }),
});
type Plan = typeof questionPlan extends fc.Arbitrary<infer Planned> ? Planned : never;
type Step = typeof stepPlan extends fc.Arbitrary<infer Planned> ? Planned : never;

const oneOf = <T>(from: readonly T[], at: number): T => from[at % from.length] as T;
const HOUR = 3_600_000;

/**
 * Lets owners and time change things on random nodes while callers ask random nodes. An answer that is given after a change
 * must know it; one given meanwhile is the one before or the one after. Returns how many answers were compared.
 */
export async function checkAnswers(nodes: Nodes, numRuns: number): Promise<number> {
  let compared = 0;
  const property = fc.asyncProperty(fc.array(stepPlan, { minLength: 4, maxLength: 14 }), async (steps) => {
    const { world, keys, change } = await beginRun(nodes);
    const ask = async (question: Question & { readonly node: number }) =>
      readAnswer(oneOf(nodes.services, question.node).url, keys[question.key] ?? "", question);
    for (const step of steps) {
      const toQuestion = ({ other, ...plan }: Plan) => ({ ...plan, key: other ? 1 - step.key : step.key });
      const [asked, later] = [step.during.map(toQuestion), step.after.map(toQuestion)];
      const before = structuredClone(world);
      const [, ...during] = await Promise.all([change(step), ...asked.map(ask)]);
      for (const [index, question] of asked.entries()) {
        compared += 1;
        expect([answer(before, question), answer(world, question)]).toContainEqual(during[index]);
      }
      for (const question of later) {
        compared += 1;
        expect([question, await ask(question)]).toEqual([question, answer(world, question)]);
      }
    }
  });
  await fc.assert(property, { numRuns });
  return compared;
}

/** Empties the store, makes two keys and one account of each app. */
async function beginRun({ services, outside, clock }: Nodes) {
  for (const table of ["rules", "connections", "integration_sources"] as const)
    await outside.deleteFrom(table).execute();
  const [first] = services;
  if (first === undefined) throw new Error("There is no service.");
  const { accountId } = first;
  const issue = () => first.keys.issue({ accountId, label: "Test", client: null });
  const issued = [await issue(), await issue()];
  const fresh = () => ({ scopes: {}, expiresAt: null, isRevoked: false });
  const world: World = { time: clock.time, keys: [fresh(), fresh()], rules: [], accounts: [], wiki: undefined };
  const change = createChanges(
    { services, outside, clock },
    world,
    issued.map(({ apiKeyId }) => apiKeyId),
  );
  for (const how of [0, 1]) await change({ change: "connect", node: 0, at: 0, how, key: 0 });
  return { world, keys: issued.map(({ apiKey }) => apiKey), change };
}

type Change = Pick<Step, "change" | "node" | "at" | "how" | "key">;

/** Makes a change at a node and in the model. */
function createChanges({ services, outside, clock }: Nodes, world: World, ids: readonly string[]) {
  const accountId = services[0]?.accountId ?? "";
  const rules = createRules(outside, accountId, Date.now);
  const sources = createSourceStore(outside, Date.now);

  return async ({ change, node, at, how, key }: Change): Promise<void> => {
    const { connections, grants, keys } = oneOf(services, node);
    const [rights, account, id] = [world.keys[key], oneOf(world.accounts, at), ids[key] ?? ""];
    if (rights === undefined) return;
    const writeGrant = () =>
      grants.write(id, rights.scopes, {
        expiresAt: rights.expiresAt === null ? null : new Date(rights.expiresAt).toISOString(),
      });
    switch (change) {
      case "scopes":
        rights.scopes = oneOf(listScopes(account?.id ?? "con_none"), how);
        return writeGrant();
      case "expiry":
        rights.expiresAt = oneOf([null, world.time + HOUR, world.time + 3 * HOUR], how);
        return writeGrant();
      case "revoke":
        // Not always, or nothing would be left to ask.
        if (how % 2 === 0) return;
        rights.isRevoked = true;
        return void (await keys.revoke(accountId, id));
      case "time":
        world.time += HOUR;
        clock.time = world.time;
        return;
      case "connect": {
        const app = oneOf(Object.keys(APPS), how);
        const { label, isDefault, ...made } = await connections.add({ integration: app, label: "Mine", settings: {} });
        world.accounts.push({ id: made.id, app, label, isDefault, state: "healthy" });
        return;
      }
      case "rule": {
        const tool = oneOf([...TOOLS, "lab/*", "pad/*", "wiki/*"], at);
        const own = how % 3 === 0 ? { key } : {};
        const effect = how % 2 === 0 ? "block" : "ask";
        const rule = await rules.add({ effect, tool, ...(how % 3 === 0 && { key: id }) }, "test");
        if (!world.rules.some((known) => known.id === rule.id)) world.rules.push({ id: rule.id, effect, tool, ...own });
        return;
      }
      case "unrule": {
        const rule = oneOf(world.rules, at);
        if (rule === undefined) return;
        world.rules = world.rules.filter((one) => one !== rule);
        return void (await rules.remove(rule.id));
      }
      case "app": {
        const wiki = { name: oneOf(["Wiki", "Book"], how), ids: WIKI_IDS.filter((_, index) => at & (1 << index)) };
        world.wiki = wiki;
        return sources.put({
          slug: "wiki",
          kind: "mcp",
          name: wiki.name,
          definition: SERVER,
          content: contentOf(wiki.ids),
        });
      }
      case "unapp":
        world.wiki = undefined;
        return void (await sources.remove("wiki"));
      default:
        if (account !== undefined) await changeAccount(connections, world, account, { change, how });
    }
  };
}

async function changeAccount(
  connections: Nodes["services"][number]["connections"],
  world: World,
  account: World["accounts"][number],
  { change, how }: Pick<Change, "change" | "how">,
): Promise<void> {
  const { id, app } = account;
  if (change === "disconnect") {
    world.accounts = world.accounts.filter((one) => one !== account);
    return connections.remove(id);
  }
  if (change === "state") account.state = oneOf(["healthy", "reauth_required", "error"] as const, how);
  if (change === "label") account.label = `Mine ${how}`;
  if (change === "default") for (const one of world.accounts) if (one.app === app) one.isDefault = one === account;
  const { state, label, isDefault } = account;
  await connections.update(id, { state, label, ...(change === "default" && { isDefault }) });
}

function listScopes(account: string): KeyScopes[] {
  return [
    {},
    { levels: ["read"] },
    { integrations: ["lab"] },
    { integrations: ["pad", "wiki"] },
    { tools: ["lab_put", "wiki_find"] },
    { connections: [account] },
  ];
}

/** Is never started: nothing is called that needs an account, and it has none. */
const SERVER = { transport: "stdio", command: "/nowhere", args: [], env: [], trusted: true };

function contentOf(ids: readonly string[]) {
  const facts = {
    description: "Counts zebras.",
    requiresConfirmation: false,
    idempotent: true,
    scopes: [],
    call: null,
  };
  const actions = ids.map((id) => {
    return { id, title: id, ...facts, level: "read" as const, inputSchema: { type: "object", properties: {} } };
  });
  return { description: "An app.", category: "test", scopes: [], settingsForm: [], actions };
}
