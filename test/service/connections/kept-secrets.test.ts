import { afterEach, beforeEach, expect, test } from "vitest";
import { createKeptSecrets, type KeptSecrets } from "../../../src/service/connections/kept-secrets.ts";
import { createSecretBox } from "../../../src/service/secrets/secret-box.ts";
import { openStore, type Store } from "../../../src/service/store/open-store.ts";
import { forgetExpired } from "../../../src/service/store/retention.ts";
import { useTempFolder } from "../files/temp-folder.ts";

const MINUTE = 60_000;
const PLACE = { browser: "ana", form: "/connect/vault" };
const SECRETS = { token: "s3cret" };

const folder = useTempFolder();
let store: Store;
let kept: KeptSecrets;
let now: number;

beforeEach(async () => {
  now = Date.parse("2026-03-04T10:00:00Z");
  store = await openStore(`${folder()}/svc.db`);
  kept = createKeptSecrets({ store, box: createSecretBox(Buffer.alloc(32, "k")), now: () => now });
});
afterEach(() => store.destroy());

test("secrets are taken once, in their browser and form", async () => {
  const token = await kept.keep(PLACE, SECRETS);
  expect(JSON.stringify(await store.selectFrom("provider_sign_ins").selectAll().execute())).not.toMatch(/s3cret|ana/);
  expect(await kept.take(token, PLACE)).toEqual(SECRETS);
  expect(await kept.take(token, PLACE)).toEqual({});
  for (const other of [{ browser: "ben" }, { form: "/connect/mail" }]) {
    expect(await kept.take(await kept.keep(PLACE, SECRETS), { ...PLACE, ...other })).toEqual({});
  }
  expect(await kept.take("", PLACE)).toEqual({});
});

test("they are kept for ten minutes, and then removed", async () => {
  const token = await kept.keep(PLACE, SECRETS);
  const late = await kept.keep(PLACE, SECRETS);
  now += 10 * MINUTE - 1;
  expect(await kept.take(token, PLACE)).toEqual(SECRETS);
  now += 1;
  expect(await kept.take(late, PLACE)).toEqual({});
  await kept.keep(PLACE, SECRETS);
  await forgetExpired(store, now + 10 * MINUTE + 1);
  expect(await store.selectFrom("provider_sign_ins").selectAll().execute()).toEqual([]);
});
