import fc, { type Arbitrary } from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { SIDE_EFFECT_LEVELS } from "../../../src/shared/wire/catalog.ts";
import type { KeyScopes } from "../../../src/shared/wire/key-scopes.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { FUZZ_FACTOR, fuzzOptions } from "../../fuzz/fuzz-options.ts";
import { listSeen, runEverywhere } from "./seen-by-key.ts";
import { createZoo, type Zoo } from "./zoo.ts";

vi.setConfig({ testTimeout: 120_000 * FUZZ_FACTOR });

let service: TestService;
const zoo: Zoo = createZoo();
const apps = zoo.integrations.map(({ slug }) => slug);
const accounts = new Map<string, string>();

beforeAll(async () => {
  service = await startTestService({ integrations: zoo.integrations, usageLimit: 10_000_000 });
  for (const [integration, label] of [...apps, "mail"].map((app, index) => [app, `Account ${index}`] as const)) {
    const isDefault = label === "Account 0";
    const { id } = await service.service.connections.add({ integration, label, settings: {}, isDefault });
    accounts.set(label, id);
  }
});
afterAll(() => service.close());

const everything = zoo.integrations.flatMap(({ slug, actions }) =>
  actions.map(({ id, level }) => ({ slug, id, level, toolName: `${slug}_${id}` })),
);
type Tool = (typeof everything)[number];

/** The spellings of a name: other case, and other signs between its words. */
const spell = (name: string): Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom("-", "_", " ", "", undefined), fc.constantFrom("as is", "upper", "title"))
    .map(([sign, letters]) => {
      const joined = sign === undefined ? name : name.replaceAll(/[-_]/g, sign);
      if (letters === "upper") return joined.toUpperCase();
      return letters === "title" ? joined.charAt(0).toUpperCase() + joined.slice(1) : joined;
    });

const names = (tool: Tool) => [tool.toolName, tool.id, `${tool.slug}/${tool.id}`, `${tool.slug}/${tool.toolName}`];
const pattern = fc.constantFrom(...everything).chain((tool) =>
  fc
    .tuple(
      fc.constantFrom(...names(tool)).chain(spell),
      fc.nat(20),
      fc.constantFrom("exact", "prefix", "suffix", "middle"),
    )
    .map(([name, at, kind]) => {
      const plain = name.replaceAll(" ", "_");
      const cut = at % (plain.length + 1);
      if (kind === "prefix") return `${plain.slice(0, cut)}*`;
      if (kind === "suffix") return `*${plain.slice(cut)}`;
      return kind === "middle" ? `${plain.slice(0, cut)}*${plain.slice(cut + 1)}` : plain;
    }),
);

const some = <T>(arbitrary: Arbitrary<T>) =>
  fc.option(fc.array(arbitrary, { minLength: 1, maxLength: 3 }), { nil: undefined });
const scopes: Arbitrary<{ -readonly [Key in keyof KeyScopes]: KeyScopes[Key] }> = fc.record({
  integrations: some(fc.constantFrom(...apps).chain((app) => fc.oneof(fc.constant(app), spell(app)))),
  levels: some(fc.constantFrom(...SIDE_EFFECT_LEVELS)),
  tools: some(pattern),
  connections: some(fc.constantFrom("Account 0", "Account 1", "Account 2", "Account 3", "gone")),
});

/** What a key may use, worked out again from the words of the documentation, letter by letter. */
function isAllowed({ integrations, levels, tools, connections }: KeyScopes, tool: Tool): boolean {
  const own = ["Account 0", "Account 1", "Account 2", "Account 3"].filter((_label, index) =>
    index === 3 ? tool.slug === "mail" : apps[index] === tool.slug,
  );
  return (
    (integrations === undefined || integrations.includes(tool.slug)) &&
    (levels === undefined || levels.includes(tool.level)) &&
    (connections === undefined || own.some((label) => connections.includes(label))) &&
    (tools === undefined ||
      tools.some((wanted) => names(tool).some((name) => name !== tool.id && fits(wanted, name, tool))))
  );
}

/** Compares from the front; a star tries every length. Signs between words are the same only in the id of the action. */
function fits(wanted: string, name: string, tool: Tool): boolean {
  const idStart = tool.slug.length + 1;
  const same = (a: string, b: string, isFree: boolean) =>
    a.toLowerCase() === b.toLowerCase() || (isFree && /[-_]/.test(a) && /[-_]/.test(b));
  // The first sign of a pattern that ends its app is where the id begins.
  const freeFrom = wanted.search(/[_/]/);
  const walk = (at: number, to: number): boolean => {
    if (at === wanted.length) return to === name.length;
    if (wanted[at] === "*") {
      for (let end = to; end <= name.length; end += 1) if (walk(at + 1, end)) return true;
      return false;
    }
    if (to === name.length) return false;
    const isFree = to >= idStart - 1 && freeFrom >= 0 && at >= freeFrom;
    return same(wanted[at] ?? "", name[to] ?? "", isFree) && walk(at + 1, to + 1);
  };
  return walk(0, 0);
}

const toIds = ({ connections, ...others }: KeyScopes): KeyScopes => ({
  ...others,
  ...(connections && { connections: connections.map((label) => accounts.get(label) ?? "con_gone") }),
});
const defined = (value: KeyScopes): KeyScopes => JSON.parse(JSON.stringify(value));

test("no key is shown a tool outside of its scopes, and each sees all inside", async () => {
  await fc.assert(
    fc.asyncProperty(scopes, async (wanted) => {
      const apiKey = await service.createKey("Fuzz", defined(toIds(wanted)));
      const target = { url: service.url, apiKey };
      const allowed = everything.filter((tool) => isAllowed(wanted, tool)).map(({ toolName }) => toolName);
      const [first, ...others] = await listSeen(target, { apps: ["mail", "mail-list"], tools: ["mail_send"] });
      expect(first?.tools?.toSorted()).toEqual(allowed.toSorted());
      for (const { place, tools = [], text } of others) {
        expect([place, tools.filter((tool) => !allowed.includes(tool))]).toEqual([place, []]);
        for (const [label, id] of accounts) {
          const isOwn = wanted.connections === undefined || wanted.connections.includes(label);
          if (!isOwn) expect([place, text.includes(label) || text.includes(id)]).toEqual([place, false]);
        }
      }
    }),
    fuzzOptions({ runs: 12 }),
  );
});

test("no key runs a tool outside of its scopes, in whatever spelling, by whatever endpoint", async () => {
  const call = fc.constantFrom(...everything).chain((tool) =>
    fc.record({
      tool: fc.constant(tool),
      app: spell(tool.slug),
      action: fc.constantFrom(tool.id, tool.toolName).chain(spell),
      toolName: fc.oneof(fc.constant(tool.toolName), spell(tool.toolName)),
      account: fc.constantFrom(undefined, "Account 0", "Account 1", "Account 2", "Account 3"),
    }),
  );
  let ran = 0;
  await fc.assert(
    fc.asyncProperty(scopes, fc.array(call, { minLength: 1, maxLength: 6 }), async (wanted, calls) => {
      const apiKey = await service.createKey("Fuzz", defined(toIds(wanted)));
      zoo.ran.length = 0;
      for (const { tool: _tool, account, ...sent } of calls) {
        const connection = account && accounts.get(account);
        await runEverywhere({ url: service.url, apiKey }, { ...sent, ...(connection && { connection }) });
      }
      ran += zoo.ran.length;
      for (const line of zoo.ran) {
        const [name = "", connection = ""] = line.split(" ");
        const tool = everything.find(({ slug, id }) => `${slug}/${id}` === name);
        const label = [...accounts].find(([, id]) => id === connection)?.[0] ?? "";
        expect([line, tool && isAllowed(wanted, tool)]).toEqual([line, true]);
        expect([line, wanted.connections?.includes(label) ?? true]).toEqual([line, true]);
      }
    }),
    fuzzOptions({ runs: 60 }),
  );
  expect(ran).toBeGreaterThan(20);
});
