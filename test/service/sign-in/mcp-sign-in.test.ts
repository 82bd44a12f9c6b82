import { afterAll, beforeAll, expect, test } from "vitest";
import type { McpDefinition } from "../../../src/apps/mcp/connect-mcp.ts";
import { prepareMcp } from "../../../src/apps/mcp/read-mcp-tools.ts";
import { openSourceAdmin, type SourceAdmin } from "../../../src/service/added/open-source-admin.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { findUsable } from "../added/find-usable.ts";
import { waitForTool } from "../added/wait-for-tool.ts";
import { openStoreOf, readStored } from "../find-store.ts";
import { execute } from "../http-calls.ts";
import { type Owner, openOwner } from "./owner.ts";
import { type ProtectedMcp, startProtectedMcp } from "./start-protected-mcp.ts";
import { startProvider, type TestProvider } from "./start-provider.ts";

/** A remote MCP server whose users sign in at a provider of its own, from adding it to the end of the sign-in. */

let provider: TestProvider;
let mcp: ProtectedMcp;
let service: TestService;
let admin: SourceAdmin;
let owner: Owner;

beforeAll(async () => {
  provider = await startProvider();
  mcp = await startProtectedMcp(provider);
  service = await startTestService();
  admin = await openSourceAdmin({ dataDir: service.dataDir });
  owner = await openOwner(service);
}, 60_000);

afterAll(async () => {
  await admin?.close();
  await service?.close();
  await mcp?.close();
  await provider?.close();
});

const definition = (): McpDefinition => ({
  transport: "http",
  url: mcp.url,
  isPrivate: true,
  headers: [],
  trusted: false,
});
const findConnection = async () => {
  const [connection] = await service.service.connections.list("plans");
  return connection ?? expect.unreachable();
};
const look = () => execute(service, "plans_look", { arguments: {}, confirmed: true });
const note = (text: string) => execute(service, "plans_note", { arguments: { text }, confirmed: true });

test("a server that asks for a sign-in is added without its tools, and says so", async () => {
  const place = { slug: "plans", name: undefined, definition: definition() };
  const { source, needsSignIn, notes } = await prepareMcp(place, {}, AbortSignal.timeout(30_000));
  expect([needsSignIn, source.content.actions]).toEqual([true, []]);
  expect(notes).toEqual([expect.stringContaining("asks you to sign in")]);
  expect(source.definition).toMatchObject({
    signIn: { flow: "code", resourceMetadata: expect.stringContaining("/mcp") },
  });
  await admin.add(source);
  await expect.poll(async () => (await owner.browser.open(`${service.url}/connect/plans`)).status).toBe(200);
});

test("a server that lets everybody in, and asks for a sign-in where its tools are listed, is added so too", async () => {
  mcp.opensFreely = true;
  const place = { slug: "late", name: undefined, definition: definition() };
  const { source, needsSignIn } = await prepareMcp(place, {}, AbortSignal.timeout(30_000)).finally(() => {
    mcp.opensFreely = false;
  });
  expect([needsSignIn, source.content.actions]).toEqual([true, []]);
  expect(source.definition).toMatchObject({
    signIn: { flow: "code", resourceMetadata: expect.stringContaining("/mcp") },
  });
});

test("the page says which host gets the token", async () => {
  const page = await owner.submit("/connect/plans", { label: "" });
  expect(page.text).toContain(`is then sent to ${new URL(mcp.url).host}: go on only if that host may act for you.`);
});

test("the owner signs in, sees what the server offers, and allows it: then it can be called", async () => {
  expect(await owner.signIn("/connect/plans")).toBe("/apps/plans/review");
  expect(provider.seen.map(({ path }) => path)).toContain("/reg");
  const source = await findUsable(admin, "plans");
  expect(source.proposal?.content.actions.map(({ id }) => id)).toEqual(["look", "note"]);
  await owner.submit("/apps/plans/accept", { digest: `${source.revision}.${source.proposal?.digest}` });
  await waitForTool(service, "plans_look");
  expect((await look()).json).toMatchObject({ ok: true, result: { notes: [] } });
  expect(await readStored(service.dataDir)).not.toContain(mcp.tokens[0] ?? "no token was used");
});

test("a token that has ended is renewed within the same session", async () => {
  provider.lifetime = 2;
  await owner.signIn(`/connections/${(await findConnection()).id}/reconnect`);
  await look();
  const { sessions } = mcp;
  const used = mcp.tokens.length;
  await expect
    .poll(async () => ((await look()).status === 200 ? mcp.tokens.length : 0), { timeout: 10_000 })
    .toBe(used + 2);
  expect(mcp.sessions).toBe(sessions);
  provider.lifetime = 3_600;
});

test("rights that the server asks for later are asked for at the next sign-in", async () => {
  const refused = await note("first");
  expect([refused.status, refused.json.error.code]).toEqual([403, "needs_scope_upgrade"]);
  expect(refused.json.error.message).toBe("plans asks for more rights: read, write.");
  expect((await findConnection()).state).toBe("reauth_required");
  const { id } = await findConnection();
  expect(await owner.signIn(`/connections/${id}/reconnect`)).toBe(`/connections/${id}?notice=reconnected`);
  expect((await note("second")).status).toBe(200);
  expect(mcp.notes).toEqual(["second"]);
});

test("a sign-in that was withdrawn at the provider asks for another one, of the same account", async () => {
  await provider.revokeAll();
  const ended = await look();
  expect([ended.status, ended.json.error.code]).toEqual([401, "needs_reauth"]);
  const { id, state } = await findConnection();
  expect(state).toBe("reauth_required");
  expect(await owner.signIn(`/connections/${id}/reconnect`)).toBe(`/connections/${id}?notice=reconnected`);
  expect((await look()).status).toBe(200);
});

test("a client that the provider has forgotten is registered anew", async () => {
  provider.forgetAll();
  expect((await look()).status).toBe(401);
  const { id } = await findConnection();
  const path = `/connections/${id}/reconnect`;
  expect(await owner.signIn(path).catch(() => "refused")).toBe(`/connections/${id}?notice=reconnected`);
  expect((await look()).status).toBe(200);
});

test("a token that the server does not take connects nothing, says so, and is withdrawn", async () => {
  const before = await countSignIns();
  mcp.refusesTokens = true;
  expect(await owner.signIn("/connect/plans")).toMatch(/^not signed in: .*plans answered 401/s);
  mcp.refusesTokens = false;
  expect(await countSignIns()).toBe(before);
  expect(provider.seen.filter(({ path }) => path === "/token/revocation").length).toBeGreaterThan(0);
  expect((await look()).status).toBe(200);
});

async function countSignIns(): Promise<number> {
  const store = await openStoreOf(service.dataDir);
  return (
    await store
      .selectFrom("sign_ins")
      .select("id")
      .execute()
      .finally(() => store.destroy())
  ).length;
}

test("with the connection its sign-in is withdrawn at the provider", async () => {
  const token = mcp.tokens.at(-1) ?? "";
  expect(await provider.inspect(token)).toBeDefined();
  await owner.submit(`/connections/${(await findConnection()).id}/disconnect`, {});
  expect(await provider.inspect(token)).toBeUndefined();
});
