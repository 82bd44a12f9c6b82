import { appStopped } from "../../apps/port/create-added-integration.ts";
import { cloneJson } from "../../shared/base/json.ts";
import type { AccessView } from "../access/access-view.ts";
import { describeRule, findRule, type RuledCall } from "../access/rules.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { toolNotFound } from "../catalog/not-found.ts";
import type { Connection } from "../connections/connection.ts";
import { ServiceError } from "../service-error.ts";
import { checkConnection, chooseConnection } from "./choose-connection.ts";
import { checkLevel } from "./judge-call.ts";
import { checkArguments } from "./read-requests.ts";
import type { ToolCall } from "./tool-call.ts";

/** Told what is known of a call, before it is refused. */
export type OnKnown = (known: Omit<RuledCall, "subject"> & { readonly connectionId: string }) => void;

/** The checks that a call passes before the app is asked anything: tool, connection, rules, sign-in, arguments. */
export async function beginCall(
  call: Pick<ToolCall, "principal" | "toolName" | "arguments" | "connectionId">,
  { view, found }: { view: AccessView; found: CatalogEntry | undefined },
  onKnown: OnKnown,
) {
  if (found === undefined) throw refuseUnknown(view.catalog, call.toolName);
  const caller = { id: call.principal.apiKeyId, isLimited: view.isLimited };
  const own = await found.action.findConnection?.(call.arguments, caller);
  const wanted = call.connectionId ?? own;
  const kept = chooseConnection(found, await view.connections.list(found.integration.slug), wanted);
  // The app gets settings of its own: other calls use the same connection.
  const connection = { ...kept, settings: cloneJson(kept.settings) as Connection["settings"] };
  const known = { entry: found, connectionId: connection.id };
  onKnown(known);
  const ruled = applyRules(view, call, known);
  onKnown({ ...known, entry: ruled });
  checkConnection(ruled, connection);
  return { connection, ruled, known, args: checkArguments(ruled, call.arguments) };
}

/** The same for a call that does more than its action says: what allows the action does not allow it. */
export function applyRulesAgain(
  view: AccessView,
  call: Pick<ToolCall, "principal">,
  known: Omit<RuledCall, "subject">,
): CatalogEntry {
  const { ruled, ...plain } = known.entry;
  checkLevel(view, plain);
  const entry = applyRules(view, call, { ...known, entry: plain });
  return ruled === "ask" ? { ...entry, ruled } : entry;
}

/** The tool as the owner's rules have it for this call; throws ServiceError 403 `blocked_by_rule`. */
function applyRules(
  { rules }: AccessView,
  { principal }: Pick<ToolCall, "principal">,
  call: Omit<RuledCall, "subject">,
): CatalogEntry {
  const { entry } = call;
  const rule = findRule(rules, { ...call, subject: principal.apiKeyId });
  if (rule === undefined) return entry;
  if (rule.effect !== "block") return { ...entry, ruled: rule.effect, rule: { id: rule.id, text: describeRule(rule) } };
  throw new ServiceError(403, "blocked_by_rule", `The owner of this service does not allow "${entry.action.title}".`, {
    type: "policy",
    details: [describeRule(rule)],
    hint: "Do not try it in another way. Only the owner can change this rule: tell the user.",
  });
}

function refuseUnknown(catalog: Catalog, toolName: string): ServiceError {
  const stopped = catalog.integrations.find((app) => app.stopped !== undefined && toolName.startsWith(`${app.slug}_`));
  return stopped === undefined ? toolNotFound(catalog, toolName) : appStopped(stopped);
}
