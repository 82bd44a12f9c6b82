import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { main } from "../../src/cli/main.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { readCsrf } from "../service/http/pages/browser.ts";
import { call, execute } from "../service/http-calls.ts";
import { type Owner, openOwner } from "../service/sign-in/owner.ts";

/*
 * The client that the suite's client scenarios look at: `node remote-app.ts URL`. It starts a service, adds the server at
 * the address as `svc add mcp` does, signs in by the pages as its owner's browser would, allows what the server offers,
 * and calls its tool; when a call asks for another sign-in, it signs in once more. Exit code 1 when the tool cannot be called.
 */

const APP = "remote";
const TOOL = `${APP}_test-tool`;
/** Sign-ins of the owner, before they give up. */
const MAX_SIGN_INS = 3;
const LOOK_MS = 100;
const MAX_LOOKS = 300;

const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}") as Readonly<Record<string, string>>;
const client = { "client-id": context.client_id ?? "", "client-secret": context.client_secret ?? "" };
const signIn = process.env.MCP_CONFORMANCE_SCENARIO?.includes("client-credentials") ? ["--sign-in", "client"] : [];

const service = await startTestService();
try {
  await useServer(service, process.argv[2] ?? "");
} finally {
  await service.close();
}

async function useServer(service: TestService, url: string): Promise<void> {
  const add = ["add", "mcp", APP, "--url", url, "--private", "--yes", "--data", service.dataDir, ...signIn];
  assert.equal(await main([process.execPath, "svc", ...add]), 0);
  const owner = await openOwner(service);
  await waitUntil(async () => (await owner.browser.open(`${service.url}/connect/${APP}`)).status === 200);
  let isSignedIn = false;
  for (let signIns = 0; signIns < MAX_SIGN_INS; signIns += 1) {
    const [connection] = await service.service.connections.list(APP);
    if (connection?.state !== "healthy") isSignedIn = await signInTo(owner, connection?.id);
    // The owner reads why, and tries again.
    if (!isSignedIn) continue;
    await allow(service, owner);
    const { status, json } = await execute(service, TOOL, { arguments: {}, confirmed: true });
    console.log(`${TOOL}: ${status} ${JSON.stringify(json)}`);
    if (status === 200) return;
    assert.match(json.error.code, /^needs_/);
  }
  throw new Error(isSignedIn ? `${TOOL} asks for a sign-in again and again.` : "The sign-in does not end well.");
}

async function signInTo(owner: Owner, connection: string | undefined): Promise<boolean> {
  const path = connection === undefined ? `/connect/${APP}` : `/connections/${connection}/reconnect`;
  const end = await owner.signIn(path, {}, client);
  const [, problem] = /<div class="notice bad" role="alert">(.+?)<\/div>/s.exec(end) ?? [];
  console.log(problem?.replaceAll(/<[^>]+>/g, "") ?? `Signed in, and led to ${end}`);
  return end.startsWith("/");
}

/** Agrees to what the server offers, once. */
async function allow(service: TestService, owner: Owner): Promise<void> {
  const isOffered = async () =>
    (await call(`${service.url}/api/tools/${TOOL}`, { key: service.apiKey })).status === 200;
  if (await isOffered()) return;
  const page = await owner.browser.open(`${service.url}/apps/${APP}/review`);
  const [, digest = ""] = /name="digest" value="([^"]+)"/.exec(page.text) ?? [];
  await owner.browser.submit(`${service.url}/apps/${APP}/accept`, { csrf: readCsrf(page), digest });
  await waitUntil(isOffered);
}

async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    if (await isSo()) return;
    await delay(LOOK_MS);
  }
  throw new Error("It takes too long.");
}
