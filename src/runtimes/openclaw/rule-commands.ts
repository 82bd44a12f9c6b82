import { createHash } from "node:crypto";
import type { ToolSession } from "../../tools/session.ts";
import { toPlainText } from "../../wire/plain-text.ts";
import { answer, type CommandAnswer, refuse } from "./command-answer.ts";
import { CHAT, type CommandForm } from "./command-form.ts";

type Rule = ReturnType<ToolSession["rules"]["list"]>[number];
type RuledSession = Pick<ToolSession, "rules" | "principal">;

/** The calls of this account that no human is asked about any more. */
export function listRules({ rules, principal }: RuledSession, form: CommandForm = CHAT): CommandAnswer {
  const own = rules.list().filter((rule) => rule.principal === principal);
  const data = own.map((rule) => ({
    id: nameRule(rule),
    tool: rule.tool,
    connection: rule.connection,
    addedAt: rule.addedAt,
  }));
  if (rules.problem !== undefined) return refuse(rules.problem);
  if (own.length === 0) return answer("Nothing is always allowed: a human is asked about every write.", data);
  const lines = own.map(
    (rule) =>
      `${nameRule(rule)}  ${toPlainText(rule.tool)} on connection ${toPlainText(rule.connection)}, since ${rule.addedAt}`,
  );
  return answer([...lines, `Take one back: ${form} rules revoke ID (or its tool name, or all).`].join("\n"), data);
}

/** Takes permissions back: by id, by tool name, or `all` of this account. */
export async function revokeRules(
  { rules, principal }: RuledSession,
  which: string | undefined,
  form: CommandForm = CHAT,
): Promise<CommandAnswer> {
  if (which === undefined) return refuse(`Which one? Give its id, its tool name, or all: ${form} rules lists them.`);
  const chosen = rules
    .list()
    .filter((rule) => rule.principal === principal)
    .filter((rule) => which === "all" || nameRule(rule) === which.toLowerCase() || rule.tool === which);
  if (chosen.length === 0) return refuse(`No permission has this id or tool name: ${form} rules lists them.`);
  for (const rule of chosen) await rules.revoke(rule);
  const tools = chosen.map(({ tool }) => toPlainText(tool)).join(", ");
  return answer(`Taken back: ${tools}. A human is asked again from the next call on.`, {
    revoked: chosen.map(nameRule),
  });
}

/** Short and stable, so that a list that changed in between revokes nothing else. */
function nameRule({ principal, tool, connection }: Rule): string {
  return createHash("sha256")
    .update(JSON.stringify([principal, tool, connection]))
    .digest("hex")
    .slice(0, 8);
}
