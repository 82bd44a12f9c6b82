import { afterAll, beforeAll, expect, test } from "vitest";
import { openSourceAdmin, type SourceAdmin } from "../../../../src/service/added/open-source-admin.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { findStore } from "../../find-store.ts";
import { type Owner, openOwner } from "../../sign-in/owner.ts";

/** The known apps on the connections page: what is shown, and what cannot be added there. */

let service: TestService;
let admin: SourceAdmin;
let owner: Owner;

beforeAll(async () => {
  service = await startTestService();
  admin = await openSourceAdmin({ dataDir: service.dataDir, ...(await findStore(service.dataDir)) });
  owner = await openOwner(service);
}, 60_000);

afterAll(async () => {
  await admin?.close();
  await service?.close();
});

const open = (path: string) => owner.browser.open(`${service.url}${path}`);

test("the page finds apps by name and purpose, and tells what each needs", async () => {
  const { text } = await open("/connections?find=calender");
  expect(text).toContain("Google Calendar");
  expect(text).toContain('<code class="copy">svc add outlook-calendar</code>');
  expect(text).not.toContain("Linear");
  expect((await open("/connections?find=zzzzzz")).text).toContain("No app of the list fits.");
  expect((await open("/connections?find=%3Cb%3E")).text).toContain('value="&lt;b&gt;"');
  expect((await open("/connections")).text).toContain("All 19 apps");
});

test.each(["gmail", "telegram", "home-assistant", "drive", "no-such-app", "mcp"])(
  "%s cannot be added on a page: no program is started and no document read for it",
  async (slug) => {
    expect((await owner.submit(`/apps/${slug}/add`, { url: "https://evil.example/mcp" })).status).toBe(404);
    expect(await admin.list()).toEqual([]);
  },
);

test("a form of another site adds nothing", async () => {
  const reply = await owner.browser.submit(`${service.url}/apps/notion/add`, { csrf: "guessed" });
  expect(reply.status).toBe(403);
  expect(await admin.list()).toEqual([]);
});
