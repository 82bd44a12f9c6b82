import { sql } from "kysely";
import { expect } from "vitest";
import { openStore, type Store } from "../../../src/service/store/open-store.ts";
import { openStoreStates } from "../../../src/service/store/store-states.ts";

type Change = (store: Store) => Promise<unknown>;

const run =
  (statement: string): Change =>
  (store) =>
    sql.raw(statement).execute(store);

/** Every kind of change that must be noticed; each changes one row of a store that {@link fill} has filled. */
export const CHANGES: readonly (readonly [string, Change])[] = [
  ["a key is made", run(insertKey("key_2"))],
  ["a key is revoked", run("update api_keys set revoked_at = 'now' where id = 'key_1'")],
  ["a key moves to another account", run("update api_keys set account_id = 'acc_2' where id = 'key_1'")],
  ["a key gets another hash", run("update api_keys set key_hash = 'other' where id = 'key_1'")],
  ["a key is deleted", run("delete from api_keys where id = 'key_1'")],
  ["rights are given", run("insert into grants (subject, scopes) values ('key_2', '{}')")],
  ["rights are narrowed", run(`update grants set scopes = '{"levels":["read"]}' where subject = 'key_1'`)],
  ["rights get an end", run("update grants set expires_at = 'now' where subject = 'key_1'")],
  ["rights are taken", run("delete from grants where subject = 'key_1'")],
  [
    "a rule is made",
    run(insertRow("rules", { id: "rule_2", account_id: "a", content: "{}", made_by: "me", made_at: "now" })),
  ],
  ["a rule is changed", run("update rules set content = '{\"effect\":\"ask\"}' where id = 'rule_1'")],
  ["a rule is deleted", run("delete from rules where id = 'rule_1'")],
  ["an account is connected", run(insertConnection("con_2"))],
  ["a connection is renamed", run("update connections set label = 'Other' where id = 'con_1'")],
  [
    "a connection has to be signed in to again",
    run("update connections set state = 'reauth_required' where id = 'con_1'"),
  ],
  ["a connection becomes the default", run("update connections set is_default = 1 where id = 'con_1'")],
  ["a connection is removed", run("delete from connections where id = 'con_1'")],
  ["an app is added", run(insertSource("wiki"))],
  ["an app is changed", run("update integration_sources set revision = 'rev_2' where slug = 'tracker'")],
  ["an app is removed", run("delete from integration_sources where slug = 'tracker'")],
];

function insertRow(table: string, row: Readonly<Record<string, string>>): string {
  const values = Object.values(row).map((value) => `'${value}'`);
  return `insert into ${table} (${Object.keys(row).join(", ")}) values (${values.join(", ")})`;
}

function insertKey(id: string): string {
  return insertRow("api_keys", { id, account_id: "a", key_hash: id, last_four: "four", label: id, created_at: "now" });
}

function insertConnection(id: string): string {
  const facts = { account_id: "a", integration: "mail", label: id, settings: "{}", scopes: "[]", state: "healthy" };
  return insertRow("connections", { id, ...facts, is_default: "0", created_at: id, updated_at: "now" });
}

function insertSource(slug: string): string {
  const facts = { kind: "mcp", name: slug, definition: "{}", content: "{}", digest: "d" };
  return insertRow("integration_sources", { slug, ...facts, revision: "rev_1", added_at: "now" });
}

/** Puts a row into every table that is watched. */
async function fill(store: Store): Promise<void> {
  await run(insertKey("key_1"))(store);
  await run("insert into grants (subject, scopes) values ('key_1', '{}')")(store);
  await run(insertRow("rules", { id: "rule_1", account_id: "a", content: "{}", made_by: "me", made_at: "now" }))(store);
  await run(insertConnection("con_1"))(store);
  await run(insertSource("tracker"))(store);
}

/** Two processes on one store: one that changes it, and one that looks. */
export async function openTwo(place: string) {
  const [store, other] = [await openStore(place), await openStore(place)];
  await fill(store);
  const states = openStoreStates(other, place);
  return {
    store,
    read: () => states.read(),
    async close() {
      states.close();
      await Promise.all([store.destroy(), other.destroy()]);
    },
  };
}

type Two = Awaited<ReturnType<typeof openTwo>>;

/** A change is noticed by the next look, and no look finds another state before it is committed, or when it is undone. */
export async function expectNoticed({ store, read }: Two, change: Change): Promise<void> {
  const before = await read();
  expect(await read()).toBe(before);
  const undone = store.transaction().execute(async (transaction) => {
    await change(transaction);
    expect(await read()).toBe(before);
    throw new Error("undone");
  });
  await expect(undone).rejects.toThrow("undone");
  expect(await read()).toBe(before);
  await change(store);
  const after = await read();
  expect(after).not.toBe(before);
  expect(await read()).toBe(after);
}

/** The use of a key is noted without another state, or each call would throw away what is kept. */
export async function expectUseUnnoticed({ store, read }: Two): Promise<void> {
  const before = await read();
  await store.updateTable("api_keys").set({ last_used_at: "now" }).execute();
  expect(await read()).toBe(before);
}
