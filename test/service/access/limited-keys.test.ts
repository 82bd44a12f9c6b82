import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { KeyScopes } from "../../../src/shared/wire/key-scopes.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { listSeen, runEverywhere } from "./seen-by-key.ts";
import { createZoo, type Zoo } from "./zoo.ts";

let zoo: Zoo;
let service: TestService;
/** Ids of the accounts, by label. */
const accounts: Record<string, string> = {};
let tools: string[];

beforeAll(async () => {
  zoo = createZoo();
  service = await startTestService({ integrations: zoo.integrations });
  for (const [integration, label] of [
    ["mail", "Red account"],
    ["mail", "Blue account"],
    ["mail-list", "Green account"],
  ] as const) {
    const isDefault = label === "Red account";
    accounts[label] = (await service.service.connections.add({ integration, label, settings: {}, isDefault })).id;
  }
  tools = zoo.integrations.flatMap(({ slug, actions }) => actions.map(({ id }) => `${slug}_${id}`));
});
beforeEach(() => {
  zoo.ran.length = 0;
});
afterAll(() => service.close());

/** What a key may do, and the tools and accounts that it must see; nothing else. */
const CASES: readonly (readonly [
  name: string,
  scopes: () => KeyScopes,
  tools: readonly string[],
  accounts: readonly string[],
])[] = [
  [
    "one app",
    () => ({ integrations: ["mail-list"] }),
    ["mail-list_get", "mail-list_purge", "mail-list_send", "mail-list_send-all"],
    ["Green account"],
  ],
  [
    "reads only",
    () => ({ levels: ["read"] }),
    ["mail_getItem", "mail_list-send", "mail-list_get"],
    ["Red account", "Blue account", "Green account"],
  ],
  ["administration only", () => ({ levels: ["admin"] }), ["mail-list_purge"], ["Green account"]],
  [
    "a pattern on one app",
    () => ({ tools: ["mail/*send*"] }),
    ["mail_list-send", "mail_send", "mail_send_all"],
    ["Red account", "Blue account"],
  ],
  [
    "the beginning of an app's tool names",
    () => ({ tools: ["mail_*"] }),
    ["mail_delete_item", "mail_getItem", "mail_list-send", "mail_send", "mail_send_all"],
    ["Red account", "Blue account"],
  ],
  ["an alias", () => ({ tools: ["MAIL/mail_send"] }), ["mail_send"], ["Red account", "Blue account"]],
  [
    "one account",
    () => ({ connections: [accounts["Blue account"] ?? ""] }),
    ["mail_delete_item", "mail_getItem", "mail_list-send", "mail_send", "mail_send_all"],
    ["Blue account"],
  ],
  [
    "all together",
    () => ({
      integrations: ["mail"],
      levels: ["write", "delete"],
      tools: ["*_send*", "mail_delete_item", "mail-list_*"],
      connections: [accounts["Red account"] ?? "", accounts["Green account"] ?? ""],
    }),
    ["mail_delete_item", "mail_send", "mail_send_all"],
    ["Red account"],
  ],
  ["names that nothing has", () => ({ integrations: ["mail_list", "Mail", "mails"] }), [], []],
];

describe.each(CASES)("a key limited to %s", (_name, scopes, allowed, allowedAccounts) => {
  test("sees exactly that, everywhere", async () => {
    const target = { url: service.url, apiKey: await service.createKey("Limited", scopes()) };
    const apps = zoo.integrations.map(({ slug }) => slug);
    const seen = await listSeen(target, { apps, tools });
    const hidden = [
      ...Object.entries(accounts).flatMap(([label, id]) => (allowedAccounts.includes(label) ? [] : [label, id])),
      ...tools.filter((tool) => !allowed.includes(tool)),
      ...apps.filter((app) => !allowed.some((tool) => tool.startsWith(`${app}_`))),
    ];
    for (const { place, text, tools: named = [] } of seen) {
      expect([place, named.filter((tool) => !allowed.includes(tool))]).toEqual([place, []]);
      // What the request itself names may be repeated.
      const leaks = hidden.filter((name) => !place.includes(name) && names(text, name));
      expect([place, leaks]).toEqual([place, []]);
    }
    const whole = seen.filter(({ place }) => /^GET \/api\/(tools|integrations)\?(limit|page_size)/.test(place));
    for (const { tools: named } of whole) expect(named?.toSorted()).toEqual([...allowed].sort());
    const shown = seen.map(({ text }) => text).join();
    if (allowed.length > 0) for (const label of allowedAccounts) expect(shown).toContain(label);
  });

  test("runs exactly that, by every endpoint", async () => {
    const target = { url: service.url, apiKey: await service.createKey("Limited", scopes()) };
    for (const { slug, actions } of zoo.integrations) {
      for (const { id } of actions) {
        const toolName = `${slug}_${id}`;
        for (const connection of [undefined, ...Object.values(accounts)]) {
          await runEverywhere(target, { app: slug, action: id, toolName, ...(connection && { connection }) });
        }
      }
    }
    const ran = new Set(zoo.ran.map((line) => (line.split(" ")[0] ?? "").replace("/", "_")));
    expect([...ran].sort()).toEqual([...allowed].sort());
    const used = new Set(zoo.ran.map((line) => line.split(" ")[1] ?? ""));
    expect([...used].sort()).toEqual(allowedAccounts.map((label) => accounts[label] ?? "").sort());
  });
});

/** True when the text has the name, and not only as a part of a longer one. */
function names(text: string, name: string): boolean {
  return new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(text);
}

test("a key without limits sees and runs everything, and shares the catalog", async () => {
  const seen = await listSeen(service, { apps: ["mail"], tools: [] });
  const [first] = seen;
  expect(first?.tools).toHaveLength(tools.length);
});
