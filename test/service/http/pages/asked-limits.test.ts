import { expect, test } from "vitest";
import { readGrant } from "../../../../src/service/http/pages/limits.ts";
import type { KeyScopes } from "../../../../src/shared/wire/key-scopes.ts";

/** Nobody gets more than they asked for by a form that says nothing of it. */

const grant = (fields: Record<string, string>, asked: KeyScopes) =>
  readGrant(new URLSearchParams(fields), { asked, approvals: "device" });
const all = { limits: "1", apps: "all", accounts: "all", level: "read" };

test.each<[string, Record<string, string>, KeyScopes]>([
  ["the owner's approval", { approvals: "device" }, { approvals: "owner" }],
  ["one app", all, { integrations: ["mail"] }],
  ["one account", all, { connections: ["con_1"] }],
  ["some tools", all, { tools: ["mail_*"] }],
  ["reads", { ...all, level: "write" }, { levels: ["read"] }],
  ["an end", { ...all, ends: "never" }, { expiresInDays: 7 }],
  ["an earlier end", { ...all, ends: "30" }, { expiresInDays: 7 }],
])("whoever asked for %s gets no more without a tick", (_, fields, asked) => {
  expect(() => grant(fields, asked)).toThrow("more than was asked for");
  expect(grant({ ...fields, wider: "yes" }, asked)).not.toEqual(asked);
});

test("what is narrower needs no tick", () => {
  expect(grant({ approvals: "owner" }, {})).toMatchObject({ approvals: "owner" });
  expect(grant({ ...all, ends: "1" }, { expiresInDays: 7 })).toMatchObject({ levels: ["read"], expiresInDays: 1 });
});
