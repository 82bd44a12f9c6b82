import type { TestService } from "../../../src/testing.ts";
import { type Browser, openBrowser, readCsrf } from "../http/pages/browser.ts";
import type { Reply } from "../http-calls.ts";

type Decision = "approve" | "decline" | "always";

/** Opens the page of a held call as the owner and presses a button; the page before, and the answer. */
export async function decideHeld(
  service: TestService,
  id: string,
  decision: Decision,
  fields: Readonly<Record<string, string>> = {},
) {
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  let shown = "";
  const choose = (page: string): Decision => {
    shown = page;
    return decision;
  };
  const answer = await pressOnPage(browser, `${service.url}/inbox/${id}`, choose, fields);
  return { page: shown, answer };
}

/** Opens the page of a held call in a signed-in browser and presses the button that `choose` names for what it shows. */
export async function pressOnPage(
  browser: Browser,
  url: string,
  choose: (page: string) => Decision,
  fields: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const page = await browser.open(url);
  const fingerprint = /name="fingerprint" value="([^"]+)"/.exec(page.text)?.[1] ?? "";
  return browser.submit(url, { csrf: readCsrf(page), fingerprint, decision: choose(page.text), ...fields });
}

/** Opens the page of each held call, then presses one button of the list for all of them; the answer. */
export async function decideTogether(
  browser: Browser,
  url: string,
  ids: readonly string[],
  { decision = "approve", reason = "" }: { decision?: Exclude<Decision, "always">; reason?: string } = {},
): Promise<Reply> {
  const fields: [string, string][] = [
    ["csrf", readCsrf(await browser.open(`${url}/inbox`))],
    ["decision", decision],
    ["reason", reason],
  ];
  for (const id of ids) {
    const { text } = await browser.open(`${url}/inbox/${id}`);
    fields.push(["call", `${id} ${/name="fingerprint" value="([^"]+)"/.exec(text)?.[1]}`]);
  }
  return browser.submit(`${url}/inbox/approve`, fields);
}
