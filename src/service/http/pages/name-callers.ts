import type { HeldApproval } from "../../approvals/approval-rows.ts";
import { toSubject } from "../../auth/grants.ts";
import type { ApiKeyRow } from "../../store/schema.ts";
import { describeApp } from "../routes/oauth.ts";
import type { ServiceParts } from "../service-parts.ts";

/** Names of the keys and OAuth clients that asked for these calls. */
export async function nameCallersOf(
  parts: ServiceParts,
  accountId: string,
  calls: readonly Pick<HeldApproval, "apiKeyId">[],
) {
  const ids = [...new Set(calls.map(({ apiKeyId }) => apiKeyId))];
  return nameCallers(parts, accountId, await parts.keys.listById(accountId, ids));
}

/** Names of keys and OAuth clients, by the id that an approval has. */
export async function nameCallers(
  { oauth }: ServiceParts,
  accountId: string,
  keys: readonly ApiKeyRow[],
): Promise<ReadonlyMap<string, string>> {
  const devices = keys.map(({ id, label }) => [id, label] as const);
  const apps = (await oauth.listApps(accountId)).map(({ clientId, name, redirectUri }) => {
    const { clientName, destination } = describeApp(name, redirectUri);
    return [toSubject(clientId), clientName ?? destination] as const;
  });
  return new Map([...devices, ...apps]);
}
