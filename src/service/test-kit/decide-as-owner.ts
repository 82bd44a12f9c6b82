/** Signs in by a one-time link and decides on an approval page by its own form, as a browser does. */
export async function decideAsOwner(o: {
  signInUrl: string;
  pairUrl: string;
  decision: "approve" | "decline";
}): Promise<void> {
  const { origin, searchParams } = new URL(o.signInUrl);
  const signedIn = await fetch(`${origin}/sign-in`, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ token: searchParams.get("token") ?? "" }),
  });
  const cookie = signedIn.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
  // Below the path of the session, which the sign-in led to.
  const home = new URL(signedIn.headers.get("location") ?? "/", origin).pathname;
  const pairUrl = new URL(`${home}${new URL(o.pairUrl).pathname.slice(1)}`, origin);
  const page = await (await fetch(pairUrl, { headers: { cookie } })).text();
  const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1];
  if (csrf === undefined || !page.includes('name="decision"')) {
    throw new Error(`The approval page has no form: ${page.replace(/<style>[\s\S]*<\/style>/, "")}`);
  }
  const answer = await fetch(pairUrl, {
    method: "POST",
    redirect: "manual",
    headers: { cookie },
    body: new URLSearchParams({ csrf, decision: o.decision }),
  });
  if (answer.status !== 303) throw new Error(`The approval page answered ${answer.status}.`);
}
