import { pressOnPage } from "../../service/approvals/owner.ts";
import { openBrowser, readCsrf } from "../../service/http/pages/browser.ts";
import { readExactly } from "../../service/http/pages/read-exactly.ts";
import { readMarkup } from "../cards/read-html.ts";
import type { Answer, Host } from "../door.ts";

/** An owner at a browser of their own, who reads the page of a held call before they press a button. */
export async function openOwnerBrowser({ baseUrl, signInUrl }: Host) {
  const browser = openBrowser();
  await browser.open((await signInUrl?.()) ?? "");
  const pageOf = (id: string) => `${baseUrl}/inbox/${id}`;
  return {
    /** What the page shows, and how the call is named in the list of the inbox. */
    async read(id: string): Promise<{ readonly shown: string; readonly named: string }> {
      const { text } = await browser.open(pageOf(id));
      return { shown: readPage(text), named: `${id} ${/name="fingerprint" value="([^"]+)"/.exec(text)?.[1]}` };
    },
    /** Chooses calls in the list, where the newest stands first, and approves them at once. */
    async approve(calls: readonly string[]): Promise<void> {
      if (calls.length === 0) return;
      const csrf = readCsrf(await browser.open(`${baseUrl}/inbox`));
      const chosen = calls.toReversed().map((one): [string, string] => ["call", one]);
      await browser.submit(`${baseUrl}/inbox/approve`, [["csrf", csrf], ...chosen]);
    },
    async decline(id: string): Promise<void> {
      await pressOnPage(browser, pageOf(id), () => "decline");
    },
    /** Approves a call with other arguments. */
    async edit(id: string, args: Record<string, unknown>): Promise<void> {
      const page = await browser.open(`${pageOf(id)}?edit=1`);
      const fingerprint = /name="fingerprint" value="([^"]+)"/.exec(page.text)?.[1] ?? "";
      const fields = { csrf: readCsrf(page), fingerprint, decision: "edit", arguments: JSON.stringify(args) };
      await browser.submit(pageOf(id), fields);
    },
  };
}

type OwnerBrowser = Awaited<ReturnType<typeof openOwnerBrowser>>;

/** Gives the answers to held calls, named as in the list: what is approved as it is by one press. */
export async function answerInInbox(owner: OwnerBrowser, answers: readonly (readonly [string, Answer])[]) {
  const yeses = answers.flatMap(([named, answer]) => (answer === "approve" ? named : []));
  for (const [named, answer] of answers) {
    const [id = ""] = named.split(" ");
    if (answer === "decline") await owner.decline(id);
    else if (typeof answer === "object") await owner.edit(id, answer.edit);
  }
  await owner.approve(yeses);
}

/** The text of the page, and its arguments as `name: value`. */
function readPage(html: string): string {
  const lists = [...html.matchAll(/<dl class="arguments">(.*?)<\/dl>/gs)];
  const list = lists.map(([, part = ""]) => part).join("");
  const entries = [...list.matchAll(/<dt><code>(.*?)<\/code>.*?<\/dt><dd class="value">(.*?)<\/dd>/gs)];
  const lines = entries.map(
    ([, name = "", value = ""]) => `${readMarkup(name)}: ${String(readExactly(readMarkup(value)))}`,
  );
  return `${readMarkup(html)}\n${lines.join("\n")}`;
}
