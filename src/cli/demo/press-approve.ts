import { request } from "undici";
import { SvcError } from "../../errors.ts";

/**
 * Plays the human of an unattended demo: presses the button behind the one-time sign-in link, opens the approval page
 * and presses its Approve button, exactly with the requests a browser would make.
 */
export async function pressApprove(signInUrl: string, pairUrl: string): Promise<void> {
  const signedIn = await press({ url: new URL(signInUrl), button: "Sign in", cookie: "" });
  const cookie = readCookies(signedIn.headers["set-cookie"]);
  if (cookie === "") throw failed("the sign-in set no session");
  // Where the sign-in led to is the home page; the pages of the session are below it.
  const home = new URL(String(signedIn.headers.location), signInUrl);
  const url = new URL(new URL(pairUrl).pathname.slice(1), home);
  const answer = await press({ url, button: "Approve", cookie });
  if (answer.statusCode >= 400) throw failed(`the Approve button answered ${answer.statusCode}`);
}

/** Opens a page and presses one of its buttons. */
async function press({ url, button, cookie }: { url: URL; button: string; cookie: string }) {
  const page = await request(url, { headers: { cookie } });
  const form = readForm(await page.body.text(), button);
  if (form === undefined) throw failed(`a page answered ${page.statusCode} without “${button}”`);
  const action = new URL(form.action, url);
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
  return answer;
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

/** Reads the form whose button begins with `label`: its action and every field it would send. */
function readForm(html: string, label: string): { action: string; fields: Record<string, string> } | undefined {
  for (const [, attributes = "", inner = ""] of html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)) {
    const button = inner.match(new RegExp(`<button\\b([^>]*)>\\s*${label}\\b`));
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
