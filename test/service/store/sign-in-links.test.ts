import { afterEach, beforeEach, expect, test } from "vitest";
import { createOwnerSessions } from "../../../src/service/auth/owner-sessions.ts";
import { createPeople } from "../../../src/service/auth/people.ts";
import { openStore } from "../../../src/service/store/open-store.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { useTempFolder } from "../files/temp-folder.ts";

const folder = useTempFolder();
let service: TestService;

beforeEach(async () => {
  service = await startTestService({ dataDir: folder() });
});
afterEach(() => service.close());

const MINUTE = 60_000;

/** Sessions on the store of the service, with a clock of their own; `people` has the ids of two, both invited. */
async function withSessions(
  use: (sessions: ReturnType<typeof createOwnerSessions>, clock: { now: number }, people: string[]) => Promise<void>,
) {
  const store = await openStore(`${folder()}/svc.db`);
  try {
    const clock = { now: Date.now() };
    const { id: account } = await store.selectFrom("accounts").select("id").executeTakeFirstOrThrow();
    const people = createPeople(store, () => clock.now);
    const ids = [];
    for (const name of ["Ada", "Gus"]) ids.push((await people.invite(account, { name, role: "owner" })).id);
    await use(
      createOwnerSessions(store, () => clock.now),
      clock,
      ids,
    );
  } finally {
    await store.destroy();
  }
}

test("an invitation ends after a day, and with the next one", () =>
  withSessions(async (sessions, clock, [ada = ""]) => {
    const { secret: first } = await sessions.createInvitation(ada);
    const { secret: second } = await sessions.createInvitation(ada);
    expect(await sessions.findInvited(first)).toBeUndefined();
    expect(await sessions.signIn(first, {})).toBeUndefined();
    clock.now += 24 * 60 * MINUTE;
    expect(await sessions.findInvited(second)).toBeUndefined();
    expect(await sessions.signIn(second, {})).toBeUndefined();
    clock.now -= 1;
    expect(await sessions.signIn(second, {})).toMatch(/^[\w-]{43}$/);
  }));

test("a session ends by itself, and signing out elsewhere ends those of the same person alone", () =>
  withSessions(async (sessions, clock, [ada = "", gus = ""]) => {
    const signIn = async (person: string) =>
      (await sessions.signIn((await sessions.createInvitation(person)).secret, {})) ?? "";
    const [here, there, other] = [await signIn(ada), await signIn(ada), await signIn(gus)];
    const own = await sessions.find(here);
    if (own === undefined) throw new Error("Ada is not signed in.");
    await sessions.endOthers(own);
    expect(await sessions.find(there)).toBeUndefined();
    expect(await sessions.find(other)).toMatchObject({ person: { name: "Gus" } });
    clock.now += 366 * 24 * 60 * MINUTE;
    expect([await sessions.find(here), await sessions.find(other)]).toEqual([undefined, undefined]);
  }));

test("a link is spent once, also by two who both found it unspent", async () => {
  const token = new URL(await service.service.signInUrl()).searchParams.get("token") ?? "";
  const store = await openStore(`${folder()}/svc.db`);
  try {
    const sessions = createOwnerSessions(store, Date.now);
    const found = [await sessions.findInvited(token), await sessions.findInvited(token)];
    expect(found).toEqual([expect.objectContaining({ role: "owner" }), expect.objectContaining({ role: "owner" })]);
    expect(await sessions.signIn(token, {})).toMatch(/^[\w-]{43}$/);
    expect(await sessions.signIn(token, {})).toBeUndefined();
  } finally {
    await store.destroy();
  }
});
