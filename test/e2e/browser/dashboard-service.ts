import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { builtInIntegrations } from "../../../src/apps/built-in.ts";
import { SvcClient } from "../../../src/plugin/client/client.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { createVault } from "../../service/connections/vault-integration.ts";
import { deliverMail } from "../../service/flows/mailbox.ts";

/** A service after some use, and the flows in it. */
export interface UsedService extends TestService {
  readonly flows: { readonly waiting: string; readonly done: string; readonly failed: string };
}

/** A service as it looks after some use: devices, connections in every state, executions and flows of every outcome. */
export async function startUsedService(): Promise<UsedService> {
  const vault = createVault();
  const description = `Things behind a token, see https://vault.example/${"documentation-".repeat(12)}`;
  const app = { ...vault.integration, description };
  const service = await startTestService({ integrations: [...builtInIntegrations, app] });
  const { connections } = service.service;
  await mkdir(join(service.dataDir, "drive", "Quotes"), { recursive: true });
  await writeFile(join(service.dataDir, "drive", "Quotes", "terrace.txt"), "24 square metres, oak\n");
  const settings = { address: "https://vault.example", token: "stale" };
  await connections.add({ integration: "vault", label: "Team vault", settings, isDefault: true });
  await connections.add({ integration: "vault", label: "Read-only vault", settings, scopes: ["vault.read"] });
  await service.createKey("Kitchen laptop");
  const client = new SvcClient({ baseUrl: service.url, apiKey: await service.createKey("Claude Code on desk") });
  const run = (tool: string, args: Record<string, unknown>, confirmed = false) =>
    client.executeTool(tool, { arguments: args, confirmed });
  await run("notes_create_page", { title: "Terrace", body: "Ask for a second quote." }, true);
  await run("mail_search", { query: "is:unread" });
  await run("drive_list_files", { folder: "Quotes" });
  await run("drive_read_file", { path: "Quotes/nothing.txt" });
  await run("vault_look", {});
  await deliverMail(service.dataDir, [
    { from: "Ada Brunner <ada@example.org>", subject: "The quote for the terrace", text: "Could you keep the quote?" },
    { from: "Ben <ben@example.org>", subject: "Invoice 2026-071", text: "It is due on Friday." },
  ]);
  const start = async (flowTemplate: string, input = {}) =>
    (await client.startFlow({ flowTemplate, input, triggerType: "agent" })).flowId;
  const done = await start("mail_unread_summary");
  const [mail] = await connections.list("mail");
  await connections.update(mail?.id ?? "", { state: "reauth_required" });
  const failed = await start("mail_unread_summary");
  await connections.update(mail?.id ?? "", { state: "healthy" });
  const waiting = await start("mail_to_notes_tasks", { notionParent: "Tasks" });
  await client.close();
  return { ...service, flows: { waiting, done, failed } };
}
