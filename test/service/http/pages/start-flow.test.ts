import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { exportLog } from "../../../../src/service/approvals/export-log.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { findStore } from "../../find-store.ts";
import { deliverMail } from "../../flows/mailbox.ts";
import { call, type Reply } from "../../http-calls.ts";
import { type Browser, openBrowser, readCsrf } from "./browser.ts";

let service: TestService;
let browser: Browser;

beforeEach(async () => {
  service = await startTestService();
  browser = openBrowser();
  await browser.open(await service.service.signInUrl());
});
afterEach(() => service.close());

const open = (path: string): Promise<Reply> => browser.open(`${service.url}${path}`);
const form = (key: string, query = "") => open(`/flows/templates/${key}${query}`);

/** Presses Start on a page, with some of its inputs changed. */
function start(key: string, page: Reply, inputs: Record<string, string>): Promise<Reply> {
  const [, token = ""] = /name="start" value="([^"]+)"/.exec(page.text) ?? [];
  const typed = Object.entries(inputs).map(([name, value]) => [`in.${name}`, value] satisfies [string, string]);
  const fields: [string, string][] = [["csrf", readCsrf(page)], ["start", token], ...typed];
  return browser.submit(`${service.url}/flows/templates/${key}`, fields);
}
const listFlows = async () => (await call(`${service.url}/api/flows`, { key: service.apiKey })).json.flows;

describe("starting a flow", () => {
  test("begins with the templates, in words for people", async () => {
    expect((await open("/flows")).text).toContain('href="/flows/templates">Start a flow</a>');
    const { text } = await open("/flows/templates");
    expect(text).toContain('<a href="/flows/templates/notes_reminder">Leave a reminder in the notes</a>');
    expect(text).toContain("waits until “Time”, or for “Seconds to wait” from the approval on");
    expect(text).not.toMatch(/notionParent|delaySeconds/);
  });

  test("has a labelled field with its help and default for each input, and accounts by name", async () => {
    const { text } = await form("mail_to_notes_tasks");
    expect(text).toMatch(/<label for="in-query">Mail search <span class="optional">\(optional\)<\/span><\/label>/);
    expect(text).toMatch(/id="in-query-help">Which messages to read[^<]*<\/p>\s*<input type="text" value="is:unread"/);
    expect(text).toMatch(/<label for="in-notionParent">Folder in the notes<\/label>/);
    expect(text).toMatch(/name="in.notionParent" aria-describedby="in-notionParent-help" required/);
    expect(text).toMatch(/<option value="">The default account \(Local notes\)<\/option><option value="con_\w+">/);
  });

  test("starts it under the name of the person", async () => {
    await deliverMail(service.dataDir, [{ from: "Ben <ben@example.org>", subject: "Invoice", text: "It is due." }]);
    const done = await start("mail_to_notes_tasks", await form("mail_to_notes_tasks"), {
      query: "is:unread",
      maxResults: "3",
      notionParent: "Tasks",
    });
    // The first look into a mailbox may outlast the wait for its start.
    await expect.poll(async () => (await listFlows())[0].status, { timeout: 20_000 }).toBe("waiting");
    const [flow] = await listFlows();
    expect([done.status, done.headers.location]).toEqual([303, `/flows/${flow.id}?notice=started`]);
    expect(flow).toMatchObject({ triggerType: "manual", startedBy: "Owner" });
    expect(flow.input).toEqual({ query: "is:unread", maxResults: 3, notionParent: "Tasks" });
    const { text } = await open(`/flows/${flow.id}?notice=started`);
    expect(text).toContain("Started. The flow waits for your approval.");
    expect(text).toContain("started by Owner");
    expect(text).toContain("<dt>Folder in the notes</dt>");
    expect((await open("/log")).text).toMatch(/Search mail[\s\S]*Owner/);
    const [line] = await Array.fromAsync(
      exportLog({ ...(await findStore(service.dataDir)), dataDir: service.dataDir, isFull: false }),
    );
    expect(line).toMatchObject({ asked_by: { name: "Owner" } });
  });

  test("pressed twice at one time, starts one", async () => {
    const page = await form("notes_reminder");
    const input = { text: "Pay", delaySeconds: "60", notionParent: "Home" };
    const replies = await Promise.all([1, 2, 3].map(() => start("notes_reminder", page, input)));
    expect(new Set(replies.map(({ headers }) => headers.location)).size).toBe(1);
    expect(await listFlows()).toHaveLength(1);
    await start("notes_reminder", page, { ...input, text: "Pay Ben" });
    await start("notes_reminder", await form("notes_reminder"), input);
    expect(await listFlows()).toHaveLength(3);
  });

  test("keeps what was typed after a mistake, and names the field by its label", async () => {
    const page = await form("notes_reminder");
    const wrong = await start("notes_reminder", page, { text: "Pay <b>", delaySeconds: "soon", notionParent: "Home" });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('<a href="#in-delaySeconds">Seconds to wait</a>: must be a whole number of seconds');
    expect(wrong.text).toMatch(/<textarea rows="3" id="in-text"[^>]*>Pay &lt;b&gt;<\/textarea>/);
    expect(wrong.text).toMatch(/value="soon"[^>]*id="in-delaySeconds"[^>]*aria-invalid="true"/);
    const none = await start("notes_reminder", wrong, { text: "Pay", notionParent: "Home" });
    expect(none.text).toContain("Seconds to wait</a>: is required, unless “Time” is given.");
    expect(await listFlows()).toEqual([]);
    const at = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 16);
    expect((await start("notes_reminder", wrong, { text: "Pay", at, notionParent: "Home" })).status).toBe(303);
    expect((await listFlows())[0].input.at).toBe(`${at}:00Z`);
  });

  test("runs an ended flow again with its inputs filled in", async () => {
    const at = new Date(Date.now() + 86_400_000).toISOString().slice(0, 19);
    await start("notes_reminder", await form("notes_reminder"), { text: "Pay", at, notionParent: "Home" });
    const [{ id }] = await listFlows();
    expect((await open(`/flows/${id}`)).text).not.toContain("Run again");
    await browser.submit(`${service.url}/flows/${id}/cancel`, { csrf: readCsrf(await open(`/flows/${id}`)) });
    const { text } = await open(`/flows/${id}`);
    expect(text).toContain(`href="/flows/templates/notes_reminder?from=${id}">Run again</a>`);
    const again = await form("notes_reminder", `?from=${id}`);
    expect(again.text).toMatch(/id="in-text"[^>]*>Pay<\/textarea>/);
    expect(again.text).toContain(`type="datetime-local" step="1" value="${at}"`);
    expect(again.text).toMatch(/value="Home" autocomplete="off" id="in-notionParent"/);
    expect((await form("mail_unread_summary", `?from=${id}`)).text).toContain('value="is:unread"');
    expect((await form("notes_reminder", "?from=flw_gone")).text).toContain('value="Reminders"');
  });

  test("of a template that is not there says so", async () => {
    const reply = await form("nothing");
    expect([reply.status, reply.text]).toEqual([404, expect.stringContaining("There is no such template")]);
    expect((await start("nothing", await form("notes_reminder"), {})).status).toBe(404);
  });
});
