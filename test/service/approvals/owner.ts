import type { TestService } from "../../../src/testing.ts";
import { openBrowser, readCsrf } from "../http/pages/browser.ts";

/** Opens the page of a held call as the owner and presses a button; the page before, and the answer. */
export async function decideHeld(
  service: TestService,
  id: string,
  decision: "approve" | "decline" | "always",
  fields: Readonly<Record<string, string>> = {},
) {
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  const page = await browser.open(`${service.url}/inbox/${id}`);
  const fingerprint = /name="fingerprint" value="([^"]+)"/.exec(page.text)?.[1] ?? "";
  const sent = { csrf: readCsrf(page), fingerprint, decision, ...fields };
  return { page: page.text, answer: await browser.submit(`${service.url}/inbox/${id}`, sent) };
}
