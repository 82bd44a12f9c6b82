import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { TestService } from "../../../../src/testing.ts";
import { waitForTool } from "../../../service/added/wait-for-tool.ts";
import { execute } from "../../../service/http-calls.ts";
import { sendLegacy } from "../../../service/mcp/mcp-calls.ts";

/** An app whose owner signs in at a provider. */
interface SignedInApp {
  readonly service: TestService;
  readonly slug: string;
  readonly name: string;
  /** A tool without arguments. */
  readonly tool: string;
  /** Whether it offers nothing before its owner has signed in and agreed. */
  readonly isReviewed: boolean;
  /** Leads from the sent form to the end of the sign-in. */
  signIn(page: Page, app: SignedInApp): Promise<void>;
  /** Access tokens that the app has taken, in order. */
  readonly tokens: readonly string[];
  /** What is wrong with a page. */
  judge(page: Page): Promise<readonly string[]>;
  /** Ends the sign-in at the provider. */
  revoke(): Promise<void> | void;
}

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

/** Presses what the page of this service, and the one of the provider, has for it. */
export async function agreeAtProvider(page: Page, url: string, { judge }: Pick<SignedInApp, "judge">): Promise<void> {
  const link = page.getByRole("link", { name: `Continue at ${new URL(url).host}` });
  await link.waitFor();
  expect(await judge(page), "before the provider").toEqual([]);
  await link.click();
  await press(page, "Allow");
}

/** Types the owner's own client, which the page asks for. */
export async function typeClient(
  page: Page,
  client: { readonly id: string; readonly secret: string },
  { judge }: Pick<SignedInApp, "judge">,
): Promise<void> {
  await page.getByLabel("Client id").fill(client.id);
  await page.getByLabel("Client secret").fill(client.secret);
  expect(await judge(page), "own client").toEqual([]);
  await press(page, "Go on");
}

/**
 * Connects the app on its page, calls it, sees its token renewed, ends the sign-in at the provider, and signs in again:
 * the connection is the same. Nothing is wrong with any page on the way.
 */
export async function liveThrough(page: Page, app: SignedInApp): Promise<void> {
  const { service, slug, tool, tokens } = app;
  const call = () => execute(service, tool, { arguments: {}, confirmed: true });
  await connect(page, app);
  await waitForTool(service, tool);
  expect((await call()).status).toBe(200);

  const [connection] = await service.service.connections.list(slug);
  const id = connection?.id ?? "";
  const used = tokens.length;
  const countTokens = async () => ((await call()).status === 200 ? tokens.length : 0);
  await expect.poll(countTokens, { timeout: 15_000 }).toBeGreaterThan(used);

  await app.revoke();
  const ended = await call();
  expect([ended.status, ended.json.error.code]).toEqual([401, "needs_reauth"]);
  await page.goto(`${service.service.url}/connections/${id}`);
  await page.getByText(ended.json.error.message).waitFor();
  expect(await app.judge(page), "ended sign-in").toEqual([]);

  const { tool: next, input } = ended.json.canonical.recommended_next_action;
  const told = await sendLegacy(service, "tools/call", { name: next, arguments: input });
  const link = JSON.stringify(told.json).match(/http[^"\\]+\/connections\/[^"\\]+\/reconnect/)?.[0] ?? "";
  await page.goto(link);
  await page.getByRole("button", { name: "Reconnect", exact: true }).waitFor();
  expect(await app.judge(page), "sign in again").toEqual([]);
  await press(page, "Reconnect");
  await app.signIn(page, app);
  await page.getByText("Reconnected. Calls that were refused can be repeated.").waitFor();
  expect(await app.judge(page), "signed in again").toEqual([]);
  expect((await call()).status).toBe(200);
  const connections = await service.service.connections.list(slug);
  expect(connections.map((one) => [one.id, one.state])).toEqual([[id, "healthy"]]);
}

async function connect(page: Page, app: SignedInApp): Promise<void> {
  const link = page.getByRole("link", { name: `Connect ${app.name}` });
  await page.getByRole("link", { name: "Connections", exact: true }).click();
  await expect.poll(() => page.reload().then(() => link.count()), { timeout: 30_000 }).toBe(1);
  await link.click();
  await page.getByText("The sign-in at its provider comes next.").waitFor();
  expect(await app.judge(page), "form").toEqual([]);
  await press(page, `Connect ${app.name}`);
  await app.signIn(page, app);
  if (app.isReviewed) {
    await page.getByRole("heading", { name: `Actions of ${app.name}` }).waitFor();
    expect(await app.judge(page), "review").toEqual([]);
    await press(page, "Use these actions");
  }
  await page.getByRole("status").waitFor();
  expect(await app.judge(page), "connections").toEqual([]);
}
