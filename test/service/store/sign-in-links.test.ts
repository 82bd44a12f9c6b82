import { afterEach, beforeEach, expect, test } from "vitest";
import { createOwnerSessions } from "../../../src/service/auth/owner-sessions.ts";
import { openStore } from "../../../src/service/store/open-store.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { useTempFolder } from "../files/temp-folder.ts";

const folder = useTempFolder();
let service: TestService;

beforeEach(async () => {
  service = await startTestService({ dataDir: folder() });
});
afterEach(() => service.close());

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
