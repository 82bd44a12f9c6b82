import fc from "fast-check";
import { expect } from "vitest";
import { type RuleContent, ruleContentSchema } from "../../../src/service/access/rules.ts";
import type { SideEffectLevel } from "../../../src/shared/wire/catalog.ts";
import { startTestService } from "../../../src/testing.ts";
import { openTestFlows, start } from "../flows/flow-lab.ts";
import { call, execute } from "../http-calls.ts";
import { sendLegacy, sendModern } from "../mcp/mcp-calls.ts";
import { makeRule, openRules } from "./open-rules.ts";
import { createZoo } from "./zoo.ts";

interface Tool {
  readonly slug: string;
  readonly id: string;
  readonly level: SideEffectLevel;
}

/** A rule, and which tools its owner means by it at least. */
interface PlannedRule {
  readonly effect: RuleContent["effect"];
  readonly pattern: string;
  readonly level: SideEffectLevel | undefined;
  /** Place of the account and of the key; undefined: any. */
  readonly account: number | undefined;
  readonly key: number | undefined;
  means(tool: Tool): boolean;
}

const pick = fc.nat({ max: 1_000_000 });
const oneOf = <T>(from: readonly T[], at: number): T => from[at % from.length] as T;

/** The same name in another spelling: upper case, and `-` for `_`. */
function respell(name: string, at: number): string {
  const flips = at.toString(2);
  return [...name]
    .map((letter, index) => {
      if (flips[index % flips.length] !== "1") return letter;
      if (letter === "-" || letter === "_") return letter === "-" ? "_" : "-";
      return letter.toUpperCase();
    })
    .join("");
}

/** Patterns that mean a tool, each with all that it means at least. */
const FORMS: readonly ((tool: Tool, at: number) => Pick<PlannedRule, "pattern" | "means">)[] = [
  (tool) => ({ pattern: `${tool.slug}_${tool.id}`, means: (other) => other === tool }),
  (tool) => ({ pattern: `${tool.slug}/${tool.id}`, means: (other) => other === tool }),
  (tool) => ({ pattern: `${tool.slug}/${tool.slug}_${tool.id}`, means: (other) => other === tool }),
  (tool) => ({ pattern: `${tool.slug}/*`, means: (other) => other.slug === tool.slug }),
  (tool) => ({ pattern: `${tool.slug}_*`, means: (other) => other.slug === tool.slug }),
  (tool, at) => ({ pattern: `${tool.slug}/${tool.id.slice(0, 1 + (at % 4))}*`, means: (other) => other === tool }),
  (tool, at) => ({ pattern: `*${tool.id.slice(at % 4)}`, means: (other) => other === tool }),
  (tool) => ({ pattern: `*/${tool.id}`, means: (other) => other.id === tool.id }),
  () => ({ pattern: "*", means: () => true }),
];

function planRules(tools: readonly Tool[]): fc.Arbitrary<PlannedRule[]> {
  const numbers = fc.record({
    effect: fc.constantFrom("block", "block", "ask", "allow", "allow"),
    tool: pick,
    form: pick,
    spelling: pick,
    hasLevel: fc.integer({ min: 0, max: 3 }),
    account: fc.option(fc.nat({ max: 1 }), { nil: undefined, freq: 2 }),
    key: fc.option(fc.nat({ max: 1 }), { nil: undefined, freq: 2 }),
  });
  const one = numbers.map(({ effect, tool, form, spelling, hasLevel, account, key }): PlannedRule => {
    const meant = oneOf(tools, tool);
    const { pattern, means } = oneOf(FORMS, form)(meant, spelling);
    const level = hasLevel === 0 && (effect !== "allow" || meant.level === "read") ? meant.level : undefined;
    return { effect, pattern: respell(pattern, spelling), level, account, key, means };
  });
  return fc.array(one, { minLength: 1, maxLength: 6 });
}

/** True for a rule that its owner means for this call. */
function isMeant(rule: PlannedRule, { tool, account, key }: { tool: Tool; account: number; key: number }): boolean {
  if ((rule.account ?? account) !== account || (rule.key ?? key) !== key) return false;
  return (rule.level ?? tool.level) === tool.level && rule.means(tool);
}

const callPlan = fc.record({
  tool: pick,
  way: pick,
  spelling: pick,
  account: fc.nat({ max: 1 }),
  key: fc.nat({ max: 1 }),
  confirmed: fc.boolean(),
});

/** Sends random calls under random rules to every endpoint; how many ran, and how many were refused by a rule. */
export async function fuzzEndpoints(numRuns: number): Promise<{ ran: number; blocked: number }> {
  const zoo = createZoo();
  const service = await startTestService({ integrations: zoo.integrations });
  const rules = await openRules(service);
  const sum = { ran: 0, blocked: 0 };
  try {
    const keys = [service.apiKey, await service.createKey("Second")];
    const rows = await rules.store.selectFrom("api_keys").select(["id", "label"]).execute();
    const subjects = ["Test device", "Second"].map((label) => rows.find((row) => row.label === label)?.id ?? "");
    // The first start connects built-in apps, of which one is called like an app of the zoo.
    for (const { id } of await service.service.connections.list()) await service.service.connections.remove(id);
    const accounts = new Map<string, readonly string[]>();
    for (const { slug } of zoo.integrations) {
      const add = (label: string) => service.service.connections.add({ integration: slug, label, settings: {} });
      accounts.set(slug, [(await add("First")).id, (await add("Second")).id]);
    }
    const tools = zoo.integrations.flatMap(({ slug, actions }) =>
      actions.map(({ id, level }) => ({ slug, id, level })),
    );

    /** Accounts differ by app: a rule for one is stored once for the account at this place of each app. */
    async function store(planned: readonly PlannedRule[]): Promise<void> {
      await rules.store.deleteFrom("rules").execute();
      for (const { effect, pattern, level, account, key } of planned) {
        const places = account === undefined ? [undefined] : [...accounts.values()].map((ids) => ids[account]);
        for (const place of places) {
          const content = {
            effect,
            tool: pattern,
            level,
            account: place,
            key: key === undefined ? key : subjects[key],
          };
          await rules.add(ruleContentSchema.parse(content), "test");
        }
      }
    }

    const property = fc.asyncProperty(
      planRules(tools),
      fc.array(callPlan, { minLength: 6, maxLength: 10 }),
      async (planned, calls) => {
        await store(planned);
        for (const [key, apiKey] of keys.entries()) {
          const listed = (await call(`${service.url}/api/tools`, { key: apiKey })).text;
          const isBlocked = (tool: Tool) =>
            [0, 1].every((account) =>
              planned.some((rule) => rule.effect === "block" && isMeant(rule, { tool, account, key })),
            );
          expect(tools.filter((tool) => isBlocked(tool) && listed.includes(`"${tool.slug}_${tool.id}"`))).toEqual([]);
        }
        for (const { tool: at, way, spelling, account, key, confirmed } of calls) {
          const tool = oneOf(tools, at);
          const before = zoo.ran.length;
          const send = oneOf(WAYS, way);
          const connection = accounts.get(tool.slug)?.[account] ?? "";
          const text = await send(
            { url: service.url, apiKey: keys[key] ?? "" },
            { tool, spelling, connection, confirmed },
          );
          if (/blocked_by_rule|does not allow/.test(text)) sum.blocked += 1;
          for (const line of zoo.ran.slice(before)) {
            sum.ran += 1;
            const [name, used] = line.split(" ");
            const did = tools.find(({ slug, id }) => `${slug}/${id}` === name);
            if (did === undefined) throw new Error(`${line} is not in the zoo.`);
            const place = accounts.get(did.slug)?.indexOf(used ?? "") ?? -1;
            const fitting = planned.filter((rule) => isMeant(rule, { tool: did, account: place, key }));
            expect(fitting.filter(({ effect }) => effect === "block")).toEqual([]);
            const mustAsk = fitting.some(({ effect }) => effect === "ask") || /delete|admin/.test(did.level);
            expect(mustAsk && !confirmed).toBe(false);
          }
        }
      },
    );
    await fc.assert(property, { numRuns });
  } finally {
    await rules.close();
    await service.close();
  }
  return sum;
}

type Door = { readonly url: string; readonly apiKey: string };
interface Sent {
  readonly tool: Tool;
  readonly spelling: number;
  readonly connection: string;
  readonly confirmed: boolean;
}

/** Every way to a tool, in every spelling that reaches one; the text of the answer. */
const WAYS: readonly ((door: Door, sent: Sent) => Promise<string>)[] = [
  async (door, { tool, connection, confirmed }) => {
    const body = { arguments: {}, connectionId: connection, confirmed };
    return (await execute(door, `${tool.slug}_${tool.id}`, body)).text;
  },
  async (door, { tool, spelling, confirmed }) =>
    (await execute(door, respell(`${tool.slug}_${tool.id}`, spelling), { arguments: {}, confirmed })).text,
  async ({ url, apiKey }, { connection, confirmed, ...named }) => {
    const body = { ...nameAction(named), input: {}, confirm: confirmed, connection_id: connection };
    return (await call(`${url}/api/executions`, { method: "POST", key: apiKey, body: JSON.stringify(body) })).text;
  },
  async (door, { confirmed, ...named }) => {
    const params = { name: "svc.execute", arguments: { ...nameAction(named), input: {}, confirm: confirmed } };
    return (await sendLegacy(door, "tools/call", params)).text;
  },
  async (door, { confirmed, ...named }) => {
    const params = { name: "svc.execute", arguments: { ...nameAction(named), input: {}, confirm: confirmed } };
    return (await sendModern(door, "tools/call", params)).text;
  },
];

function nameAction({ tool, spelling }: Pick<Sent, "tool" | "spelling">) {
  const name = spelling % 2 === 0 ? tool.id : `${tool.slug}_${tool.id}`;
  const id = spelling % 3 === 0 ? name.replaceAll(/[-_]/g, "") : respell(name, spelling);
  return { integration_id: respell(tool.slug, spelling), action_id: id };
}

/** Runs flows under random rules; how many of their calls ran. */
export async function fuzzFlows(numRuns: number): Promise<number> {
  const ends: (() => Promise<unknown>)[] = [];
  const inForce: ReturnType<typeof makeRule>[] = [];
  const tools: readonly Tool[] = [
    { slug: "lab", id: "look", level: "read" },
    { slug: "lab", id: "put", level: "write" },
  ];
  let sum = 0;
  try {
    const { flows, lab } = await openTestFlows({ onEnd: (end) => ends.push(end), rules: inForce });
    const property = fc.asyncProperty(planRules(tools), async (planned) => {
      const contents = planned.map(({ effect, pattern, level, account, key }) => {
        const others = { account: account === 1 ? "con_other" : undefined, key: key === 1 ? "key_other" : undefined };
        return ruleContentSchema.parse({ effect, tool: pattern, level, ...others });
      });
      inForce.splice(0, inForce.length, ...contents.map(makeRule));
      const before = lab.ran.length;
      const { flow } = await start(flows, "chain", { titles: ["a"] });
      if (flow.status === "waiting") await flows.approve("acc_test", flow.id, { by: "test" });
      for (const line of lab.ran.slice(before)) {
        sum += 1;
        const tool = tools.find(({ id }) => line.startsWith(`${id}:`));
        const blocks = planned.filter(
          (rule) =>
            rule.effect === "block" &&
            tool !== undefined &&
            isMeant(
              { ...rule, account: rule.account || undefined, key: rule.key || undefined },
              { tool, account: 0, key: 0 },
            ),
        );
        expect(blocks).toEqual([]);
      }
    });
    await fc.assert(property, { numRuns });
  } finally {
    for (const end of ends.reverse()) await end();
  }
  return sum;
}
