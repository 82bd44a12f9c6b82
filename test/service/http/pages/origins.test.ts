import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { execute } from "../../http-calls.ts";
import { MESSAGE_ID, startMailWorld } from "../../seen/mail-world.ts";
import { type Browser, openBrowser } from "./browser.ts";

/** What the owner sees of where the values of a call come from. */

let world: Awaited<ReturnType<typeof startMailWorld>>;
let browser: Browser;

beforeEach(async () => {
  world = await startMailWorld({ approvals: "owner" });
  browser = openBrowser();
  await browser.open(await world.service.signInUrl());
  await execute(world, "mail_read_message", { arguments: { message_id: MESSAGE_ID } });
});
afterEach(() => world.end());

const read = async (path: string) => (await browser.open(world.url + path)).text;

async function hold(to: readonly string[], more: object = {}): Promise<string> {
  const args = { to, subject: "Figures", body: "Here they are." };
  const { json } = await execute(world, "mail_send_message", { arguments: args, ...more });
  return json.error.approval.id;
}

describe("the page of a held call", () => {
  test("names the stranger above what would change, and folds what is the owner's", async () => {
    const page = await read(`/inbox/${await hold(["drop@elsewhere.example", "berta@friends.example"])}`);
    const [above = "", changes = ""] = page.split('<dl class="changed">');
    expect(above).toContain("drop@elsewhere.example: first seen in a mail by &quot;Mallory Quist");
    expect(above).not.toContain("berta@friends.example: ");
    expect(changes).toMatch(/<summary>Where its other values come from<\/summary>.*berta@friends\.example: in your/s);
  });

  test("warns of nothing where all of it is the owner's, or typed by them", async () => {
    const said = ["drop@elsewhere.example"];
    const page = await read(`/inbox/${await hold(["drop@elsewhere.example", "berta@friends.example"], { said })}`);
    expect(page).toContain("drop@elsewhere.example: typed by you, as this device says");
    expect(page).not.toContain("drop@elsewhere.example: first seen");
  });
});

test("the log marks a read that took something of a stranger to its app", async () => {
  await execute(world, "mail_search", { arguments: { query: "drop@elsewhere.example" } });
  await vi.waitUntil(async () => (await read("/log")).includes("took a value of somebody else there"), 10_000);
  const log = await read("/log");
  const id = /href="\/log\/([\w-]+)"(?:(?!<li>).)*took a value/s.exec(log)?.[1];
  expect(await read(`/log/${id}`)).toMatch(/<dt>Took there<\/dt>.*drop@elsewhere\.example: first seen in a mail</s);
});
