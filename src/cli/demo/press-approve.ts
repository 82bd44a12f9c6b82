import { request } from "undici";
import { SvcError } from "../../errors.ts";

/**
 * Plays the human of an unattended demo: follows the one-time sign-in link, opens the approval page
 * and presses its Approve button, exactly with the requests a browser would make.
 */
export async function pressApprove(signInUrl: string, pairUrl: string): Promise<void> {
  const signIn = await request(signInUrl);
  const cookie = readCookies(signIn.headers["set-cookie"]);
  await signIn.body.dump();
  if (cookie === "") throw failed("the sign-in link set no session");
  const page = await request(pairUrl, { headers: { cookie } });
  const form = readForm(await page.body.text());
  if (form === undefined) throw failed(`the approval page answered ${page.statusCode} without an Approve button`);
  const action = new URL(form.action, pairUrl);
  const answer = await request(action, {
    method: "POST",
    headers: {
      cookie,
      origin: action.origin,
      "sec-fetch-site": "same-origin",
      "content-type": "application/x-www-form-urlencoded",
    },
    body: new URLSearchParams(form.fields).toString(),
  });
  await answer.body.dump();
  if (answer.statusCode >= 400) throw failed(`the Approve button answered ${answer.statusCode}`);
}

const failed = (what: string) =>
  new SvcError("pairing_failed", `The unattended approval did not work: ${what}.`, {
    hint: "Run the demo without --unattended and approve in a browser.",
  });

function readCookies(header: string | string[] | undefined): string {
  return [header ?? []]
    .flat()
    .map((line) => line.split(";", 1)[0])
    .join("; ");
}

/** Reads the form whose button is called Approve: its action and every field it would send. */
function readForm(html: string): { action: string; fields: Record<string, string> } | undefined {
  for (const [, attributes = "", inner = ""] of html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)) {
    const button = inner.match(/<button\b([^>]*)>\s*Approve\b/);
    const action = readAttribute(attributes, "action");
    if (!button || action === undefined) continue;
    const controls = [...inner.matchAll(/<input\b([^>]*)>/g)].map((match) => match[1] ?? "");
    const pairs = [...controls, button[1] ?? ""].flatMap((control) => {
      const name = readAttribute(control, "name");
      return name === undefined ? [] : [[name, readAttribute(control, "value") ?? ""] as const];
    });
    return { action, fields: Object.fromEntries(pairs) };
  }
  return undefined;
}

function readAttribute(attributes: string, name: string): string | undefined {
  return attributes
    .match(new RegExp(`\\b${name}="([^"]*)"`))?.[1]
    ?.replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
}
