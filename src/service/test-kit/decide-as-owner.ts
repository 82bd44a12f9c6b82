/** Opens a one-time sign-in link and decides on an approval page by its own form, as a browser without scripts does. */
export async function decideAsOwner(o: {
  signInUrl: string;
  pairUrl: string;
  decision: "approve" | "decline";
}): Promise<void> {
  const signedIn = await fetch(o.signInUrl, { redirect: "manual" });
  const cookie = signedIn.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
  const page = await (await fetch(o.pairUrl, { headers: { cookie } })).text();
  const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1];
  if (csrf === undefined || !page.includes('name="decision"')) {
    throw new Error(`The approval page has no form: ${page.replace(/<style>[\s\S]*<\/style>/, "")}`);
  }
  const answer = await fetch(o.pairUrl, {
    method: "POST",
    redirect: "manual",
    headers: { cookie },
    body: new URLSearchParams({ csrf, decision: o.decision }),
  });
  if (answer.status !== 303) throw new Error(`The approval page answered ${answer.status}.`);
}
