import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AccessView } from "../../../src/service/access/access-view.ts";
import { createApiKeys } from "../../../src/service/auth/api-keys.ts";
import type { CatalogEntry } from "../../../src/service/catalog/catalog-entry.ts";
import { createSecretBox } from "../../../src/service/secrets/secret-box.ts";
import { createDigest, DIGEST_BYTES } from "../../../src/service/seen/digest-table.ts";
import type { EndedCall } from "../../../src/service/seen/note-results.ts";
import { createSeen, type Seen } from "../../../src/service/seen/open-seen.ts";
import { createSeenIndexes } from "../../../src/service/seen/seen-index.ts";
import { forgetSeen, MAX_VALUES, openSeenRows } from "../../../src/service/seen/seen-rows.ts";
import type { Store } from "../../../src/service/store/open-store.ts";
import { useTempFolder } from "../files/temp-folder.ts";
import { openStoreOf } from "../find-store.ts";

const DAY = 24 * 60 * 60 * 1000;
const ACCOUNT = "acc_1";
const folder = useTempFolder();
const box = createSecretBox(randomBytes(32));
const digest = createDigest(randomBytes(32).toString("base64url"));
let store: Store;
let time: number;
let apiKeyId: string;
let failures: unknown[];

beforeEach(async () => {
  time = Date.parse("2026-03-04T10:00:00Z");
  failures = [];
  store = await openStoreOf(folder());
  const keys = createApiKeys(store, { read: async () => ({ mark: "" }) }, () => time);
  ({ apiKeyId } = await keys.issue({ accountId: ACCOUNT, label: "Test", client: null }));
});
afterEach(() => store.destroy());

const nothing = {
  catalog: { integrations: [], listEntries: () => [] },
  connections: { list: async () => [] },
} as unknown as AccessView;

/** One process on the store. */
function openProcess(): Seen {
  return createSeen(
    {
      store,
      box,
      access: { show: async () => nothing },
      walk: async () => {},
      markRead: async () => {},
      serviceKeys: { read: async () => "" },
      now: () => time,
      log: ({ cause }) => failures.push(cause),
    },
    digest,
  );
}

const entry = {
  toolName: "lab_look",
  integration: { slug: "lab", name: "Lab" },
  action: { level: "read" },
} as CatalogEntry;

function answer(output: unknown): EndedCall {
  return {
    executionId: "exe_1",
    principal: { accountId: ACCOUNT, apiKeyId },
    entry,
    connection: { id: "con_1" } as EndedCall["connection"],
    args: {},
    said: [],
    output,
    json: "x".repeat(Math.random() * 1000),
    files: [],
    readFiles: async () => [],
  };
}

async function findOrigin(seen: Seen, value: string) {
  const principal = { accountId: ACCOUNT, apiKeyId };
  const judged = await seen.judge({ principal, args: { to: value }, said: [], readFiles: async () => [] });
  return judged?.origins.find((one) => one.value === value);
}

const ADDRESS = "mallory@strange.example";

describe("a value that an answer held", () => {
  test("is known from then on, also to another process, and after a restart", async () => {
    const [one, other] = [openProcess(), openProcess()];
    expect(await findOrigin(other, ADDRESS)).toMatchObject({ origin: "unseen" });
    one.note(answer({ from: ADDRESS }));
    await one.idle();
    const found = { origin: "somebody", source: { app: "lab", kind: "answer", by: "Lab" } };
    expect(await findOrigin(one, ADDRESS)).toMatchObject(found);
    expect(await findOrigin(other, ADDRESS)).toMatchObject(found);
    expect(await findOrigin(openProcess(), ADDRESS)).toMatchObject(found);
  });

  test("is kept once, however often it is seen", async () => {
    const seen = openProcess();
    for (let times = 0; times < 5; times += 1) seen.note(answer({ from: ADDRESS, times: "once" }));
    await seen.idle();
    const rows = await store.selectFrom("seen_values").selectAll().execute();
    expect(rows).toHaveLength(1);
  });

  test("cannot be read from the store", async () => {
    const seen = openProcess();
    seen.note({ ...answer({ from: ADDRESS, title: "zebra" }), error: undefined });
    await seen.idle();
    const rows = await store.selectFrom("seen_values").selectAll().execute();
    const text = rows
      .map((row) => `${JSON.stringify(row)} ${Buffer.from(row.digests).toString("latin1")}`)
      .join("\n")
      .toLowerCase();
    expect(rows[0]?.source).toMatch(/^v1\./);
    for (const word of ["mallory", "strange", "zebra", 'lab"', "answer"]) expect(text).not.toContain(word);
    expect(rows[0]?.digests.length).toBe((rows[0]?.count ?? 0) * DIGEST_BYTES);
  });

  test("is forgotten after seven days, also by a process that knows it", async () => {
    const seen = openProcess();
    seen.note(answer({ from: ADDRESS }));
    await seen.idle();
    time += 6.9 * DAY;
    expect(await findOrigin(seen, ADDRESS)).toMatchObject({ origin: "somebody" });
    time += 0.2 * DAY;
    expect(await findOrigin(seen, ADDRESS)).toMatchObject({ origin: "unseen" });
    await forgetSeen(store, time);
    expect(await store.selectFrom("seen_values").selectAll().execute()).toEqual([]);
  });

  test("that is seen again is kept from then on", async () => {
    const seen = openProcess();
    seen.note(answer({ from: ADDRESS }));
    await seen.idle();
    time += 6 * DAY;
    seen.note(answer({ from: ADDRESS }));
    await seen.idle();
    time += 6 * DAY;
    await forgetSeen(store, time);
    expect(await findOrigin(seen, ADDRESS)).toMatchObject({ origin: "somebody" });
  });

  test("goes with its key", async () => {
    const seen = openProcess();
    seen.note(answer({ from: ADDRESS }));
    await seen.idle();
    const keys = createApiKeys(store, { read: async () => ({ mark: "" }) }, () => time);
    await keys.revoke(ACCOUNT, apiKeyId);
    expect(await store.selectFrom("seen_values").selectAll().execute()).toEqual([]);
    // What was on its way when the key ended.
    seen.note(answer({ from: "late@strange.example" }));
    await seen.idle();
    await forgetSeen(store, time);
    expect(await store.selectFrom("seen_values").selectAll().execute()).toEqual([]);
  });
});

test("of more than 200,000 values of a key the oldest go", async () => {
  const rows = openSeenRows({ store, box, now: () => time });
  const source = { whose: "somebody", app: "lab", kind: "answer" } as const;
  const principal = { accountId: ACCOUNT, apiKeyId };
  const first = digest("first");
  for (let part = 0; part < 11; part += 1) {
    const digests = Array.from({ length: 20_000 }, (_, one) => (part + one === 0 ? first : randomBytes(DIGEST_BYTES)));
    await rows.add([{ principal, kind: "seen", source, digests }]);
    time += 1000;
  }
  const last = digest("last");
  await rows.add([{ principal, kind: "seen", source, digests: [last] }]);
  const indexes = createSeenIndexes(rows, () => time);
  await indexes.read(apiKeyId);
  const index = await indexes.read(apiKeyId);
  expect(index.count()).toBeLessThanOrEqual(MAX_VALUES);
  expect([index.find("seen", first), index.find("seen", last)?.app]).toEqual([undefined, "lab"]);
});

describe("hostile answers", () => {
  let deep: unknown = "end@deep.example";
  for (let level = 0; level < 50_000; level += 1) deep = [deep];
  const hostile: readonly (readonly [string, unknown])[] = [
    ["deep", deep],
    ["10 MB of text", "@".repeat(5_000_000) + "a.b ".repeat(1_250_000)],
    ["many values", Array.from({ length: 300_000 }, (_, one) => `user${one}@many.example`)],
    ["odd characters", "\u0000\uD800\u202E\u200B".repeat(10_000)],
    ["nothing", undefined],
  ];
  test.each(hostile)("%s: later ones are noted all the same", async (_, output) => {
    const seen = openProcess();
    seen.note(answer(output));
    seen.note(answer({ from: ADDRESS }));
    await seen.idle();
    expect(await findOrigin(seen, ADDRESS)).toMatchObject({ origin: "somebody" });
    expect(failures).toEqual([]);
  });

  test("an app that cannot say whose its answer is counts as somebody", async () => {
    const seen = openProcess();
    const authored = () => {
      throw new Error("no");
    };
    const broken = { ...entry, action: { ...entry.action, authored } };
    seen.note({ ...answer({ from: ADDRESS }), entry: broken });
    expect(await findOrigin(seen, ADDRESS)).toMatchObject({ origin: "somebody" });
  });

  test("a store that is gone costs the origins, and nothing else", async () => {
    const seen = openProcess();
    await store.destroy();
    seen.note(answer({ from: ADDRESS }));
    await seen.idle();
    expect(await findOrigin(seen, ADDRESS)).toBeUndefined();
    expect(failures).toHaveLength(2);
    store = await openStoreOf(folder());
  });
});
