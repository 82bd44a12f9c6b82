import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { createShelf, type Shelf } from "../../executions/shelf-app.ts";
import { execute } from "../../http-calls.ts";
import { type Browser, openBrowser } from "./browser.ts";

/** A call with a preview is named by one sentence wherever it stands, and its page begins with what it would do. */

let shelf: Shelf;
let service: TestService;
let browser: Browser;

beforeEach(async () => {
  shelf = createShelf();
  service = await startTestService({ integrations: [shelf.integration], approvals: "owner" });
  await service.service.connections.add({ integration: "shelf", label: "Mine", settings: {} });
  browser = openBrowser();
  await browser.open(await service.service.signInUrl());
});
afterEach(() => service.close());

async function hold(): Promise<string> {
  const held = await execute(service, "shelf_fill", { arguments: { with: "pears" }, confirmed: true });
  return held.json.error.approval.id;
}
const read = async (path: string) => (await browser.open(service.url + path)).text;

const SENTENCE = "Put pears into the box, in place of apples";

test.each(["/", "/inbox"])("the sentence stands on %s", async (path) => {
  await hold();
  expect(await read(path)).toContain(SENTENCE);
});

test("the page begins with the sentence and what changes, and folds the call as it is sent", async () => {
  const id = await hold();
  const page = await read(`/inbox/${id}`);
  const [seen = "", folded = ""] = page.split("Tool, account and arguments as they are sent");
  expect(seen).toContain(`<h1 class="sentence" id="call">${SENTENCE}</h1>`);
  expect(seen).toMatch(/<del>.*apples.*<\/del><ins>.*pears.*<\/ins>/s);
  expect(seen).toContain("Undo: not by the service: Nothing is kept.");
  expect(seen).not.toContain("shelf_fill");
  expect(folded).toContain("shelf_fill");
  expect(folded).toMatch(/<dt><code>with<\/code><\/dt><dd class="value">.*pears/);
});

test("both buttons stand together, apart from what could press one by mistake", async () => {
  const page = await read(`/inbox/${await hold()}`);
  const reach = /<div class="reach">(.*?)<\/div>/s.exec(page)?.[1] ?? "";
  expect(reach).toContain('value="approve">Approve</button></form>');
  expect(reach).toContain('form="decline" name="decision" value="decline">Decline</button>');
});

test("the page says that the present state could not be read", async () => {
  shelf.look = "fails";
  expect(await read(`/inbox/${await hold()}`)).toContain("The present state could not be read when this was asked");
});

test("text of a preview is text on the page", async () => {
  shelf.content = "<b>x</b>\u202e\n</pre></section>";
  const page = await read(`/inbox/${await hold()}`);
  expect(page).not.toContain("<b>x</b>");
  expect(page).not.toContain("\u202e");
  expect(page).toContain("&lt;b&gt;x&lt;/b&gt;");
});
