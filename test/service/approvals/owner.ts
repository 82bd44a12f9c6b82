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
