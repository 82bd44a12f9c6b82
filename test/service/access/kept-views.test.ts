import { expect, test } from "vitest";
import { createAccess } from "../../../src/service/access/access-view.ts";
import { createLiveCatalog } from "../../../src/service/catalog/catalog.ts";
import type { KeyScopes } from "../../../src/shared/wire/key-scopes.ts";
import { createZoo } from "./zoo.ts";

const SCOPES: Readonly<Record<string, KeyScopes>> = {
  limited: { levels: ["read"] },
  "one account": { connections: ["con_1"] },
};

/** Views of a store that stays the same. */
function openViews() {
  const { integrations } = createZoo();
  const state = { mark: "the only one" };
  const clock = { time: Date.parse("2026-11-25T12:00:00Z") };
  const reads: string[] = [];
  const { catalog, replace } = createLiveCatalog(integrations);
  const access = createAccess({
    states: { read: async () => state },
    catalog,
    connections: { list: async () => [] },
    rules: { list: async () => [] },
    grants: {
      async read(subject) {
        reads.push(subject);
        return { scopes: SCOPES[subject] ?? {}, expiresAt: "2026-11-25T13:00:00Z" };
      },
    },
    now: () => clock.time,
  });
  return { access, replace, integrations, clock, reads };
}

const HOUR = 3_600_000;

test("views of keys with equal rights are one, which is made once", async () => {
  const { access, reads } = openViews();
  const [a, b, again] = [
    await access.show({ apiKeyId: "a" }),
    await access.show({ apiKeyId: "b" }),
    await access.show({ apiKeyId: "a" }),
  ];
  expect([b.id, again.id]).toEqual([a.id, a.id]);
  expect((await access.show({ apiKeyId: "limited" })).id).not.toBe(a.id);
  expect(reads).toEqual(["a", "b", "limited"]);
});

test.each([
  ["one account", "all"],
  ["all", "one account"],
  ["limited", "one account"],
])("views of %s and %s that are made at the same time are two", async (first, second) => {
  const { access } = openViews();
  const made = await Promise.all([first, second].map((apiKeyId) => access.show({ apiKeyId })));
  const again = await Promise.all([first, second].map((apiKeyId) => access.show({ apiKeyId })));
  expect(new Set(made.map(({ id }) => id)).size).toBe(2);
  expect(again.map(({ id }) => id)).toEqual(made.map(({ id }) => id));
});

test.each(["all", "limited"])("a view of %s is another one when the catalog is another one", async (apiKeyId) => {
  const { access, replace, integrations } = openViews();
  const before = await access.show({ apiKeyId });
  const [, ...left] = integrations;
  replace(left);
  const after = await access.show({ apiKeyId });
  expect(after.id).not.toBe(before.id);
  expect(after.catalog.integrations.map(({ slug }) => slug)).not.toContain("mail");
});

test("a right that is kept ends at its time", async () => {
  const { access, clock } = openViews();
  await access.view({ apiKeyId: "oauth_app" });
  clock.time += HOUR;
  await expect(access.view({ apiKeyId: "oauth_app" })).rejects.toMatchObject({ status: 401 });
});
