import { readFile } from "node:fs/promises";
import { Document, parse } from "yaml";
import { z } from "zod";
import { type Named, openRulesAdmin, type RulesAdmin } from "../../service/access/open-rules-admin.ts";
import {
  compareRules,
  describeFate,
  findRule,
  isAbout,
  type Rule,
  type RuleContent,
  ruleContentSchema,
} from "../../service/access/rules.ts";
import type { CatalogEntry } from "../../service/catalog/catalog-entry.ts";
import { findDefaultConnection } from "../../service/connections/connections.ts";
import { toPlainText } from "../../shared/card/plain-text.ts";
import { SvcError } from "../../shared/errors.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { wrapWords } from "../terminal.ts";
import { askYesNo, type SourceFlags } from "./add-source.ts";

/** Flags that narrow a rule, or say which call is meant. */
interface RuleFlags extends SourceFlags {
  readonly level?: string;
  readonly account?: string;
  readonly key?: string;
  readonly note?: string;
}

const MADE_BY = "command line";
const SHOWN_TOOLS = 12;

/** `svc rules list`: the rules of a service on this machine. */
export async function listRules(context: CliContext, flags: SourceFlags): Promise<number> {
  return withRules(context, flags, async (admin) => {
    const rules = await admin.rules.list();
    context.terminal.answer(rules, () => {
      if (rules.length === 0) return 'There is no rule. Add one with "svc rules add".';
      return rules.map((rule) => describeRow(context, admin, rule)).join("\n");
    });
    return EXIT.ok;
  });
}

/** `svc rules add`: shows which tools it is about, and asks before something runs unasked. */
export async function addRule(context: CliContext, effect: string, tool: string, flags: RuleFlags): Promise<number> {
  const { terminal } = context;
  return withRules(context, flags, async (admin) => {
    const { level, account, key, note } = flags;
    const content = readRule(admin, { effect, tool, level, account, key, note }, "");
    for (const line of describeReach(context, admin, content)) terminal.say(line);
    if (content.effect === "allow" && !(await askYesNo(context, flags, "Let these calls run unasked?"))) {
      terminal.say("Nothing was changed.");
      return EXIT.notApproved;
    }
    const rule = await admin.rules.add(content, MADE_BY);
    terminal.answer(rule, () => `${describeRow(context, admin, rule)}\nIt counts from the next call on.`);
    return EXIT.ok;
  });
}

/** `svc rules remove`: asks before a block or an ask goes away. */
export async function removeRule(context: CliContext, id: string, flags: SourceFlags): Promise<number> {
  const { terminal } = context;
  return withRules(context, flags, async (admin) => {
    const rule = (await admin.rules.list()).find((known) => known.id === id);
    if (rule === undefined) {
      const hint = 'See all with "svc rules list".';
      throw new SvcError("invalid_config", `There is no rule "${id}".`, { field: "rule", hint });
    }
    terminal.say(describeRow(context, admin, rule));
    if (rule.effect !== "allow" && !(await askYesNo(context, flags, "Remove this rule?"))) {
      terminal.say("Nothing was changed.");
      return EXIT.notApproved;
    }
    await admin.rules.remove(id);
    terminal.answer({ removed: id }, () => "Removed. It counts from the next call on.");
    return EXIT.ok;
  });
}

/** `svc rules test`: the effect of the rules on a call, and the rule that decides. */
export async function testRules(context: CliContext, tool: string, flags: RuleFlags): Promise<number> {
  return withRules(context, flags, async (admin) => {
    const entry = findTool(admin, tool);
    const own = admin.accounts.filter(({ app }) => app === entry.integration.slug);
    const account = findNamed(own, flags.account, "--account") ?? findDefaultConnection(own)?.id;
    const subject = findNamed(admin.keys, flags.key, "--key") ?? "";
    const rules = await admin.rules.list();
    const rule = findRule(rules, { entry, connectionId: account, subject });
    const others = rules.filter((other) => other !== rule && isAbout(other, entry));
    const left = others.filter((other) => (other.account ?? account) !== account || (other.key ?? subject) !== subject);
    const showRow = (shown: Rule) => describeRow(context, admin, shown);
    const { toolName, action } = entry;
    const { columns } = context.terminal;
    const answer = { tool: toolName, effect: action.level, decides: rule ?? null, result: rule?.effect ?? null };
    context.terminal.answer(answer, () =>
      [
        wrapWords(`${toPlainText(toolName)} (${action.level}): ${describeFate(entry, rule)}`, columns, "    "),
        ...(rule === undefined ? [] : [showRow(rule)]),
        ...(left.length === 0 ? [] : ["Not for this account or key:", ...left.map(showRow)]),
      ].join("\n"),
    );
    return EXIT.ok;
  });
}

/** `svc rules export`: the rules as a file to keep and to change. */
export async function exportRules(context: CliContext, flags: SourceFlags): Promise<number> {
  return withRules(context, flags, async (admin) => {
    const rules = (await admin.rules.list()).map(({ id: _, madeBy: __, madeAt: ___, ...content }) => content);
    const file = new Document({ rules });
    file.commentBefore = ' Put into force with "svc rules apply FILE".';
    for (const [index, { account, key }] of rules.entries()) {
      comment(
        file,
        [index, "account"],
        admin.accounts.find(({ id }) => id === account),
      );
      comment(
        file,
        [index, "key"],
        admin.keys.find(({ id }) => id === key),
      );
    }
    context.terminal.answer({ rules }, () => file.toString().trimEnd());
    return EXIT.ok;
  });
}

function comment(file: Document, path: readonly [number, string], named: Named | undefined): void {
  const node = file.getIn(["rules", ...path], true);
  if (named === undefined || typeof node !== "object" || node === null) return;
  Object.assign(node, { comment: ` ${toPlainText(named.label)}` });
}

const fileSchema = z.strictObject({ rules: z.array(z.looseObject({})) });

/** `svc rules apply`: makes the rules of a file the rules of the service, after the difference was agreed to. */
export async function applyRules(context: CliContext, path: string, flags: SourceFlags): Promise<number> {
  const { terminal } = context;
  const given = await readRuleFile(path);
  return withRules(context, flags, async (admin) => {
    const wanted = given.map((content, index) => readRule(admin, content, `rules[${index}]: `));
    const change = compareRules(await admin.rules.list(), wanted);
    const { added, removed } = change;
    for (const rule of removed) terminal.say(terminal.style("red", `- ${describeContent(admin, rule)}`));
    for (const rule of added) terminal.say(terminal.style("green", `+ ${describeContent(admin, rule)}`));
    const count = { added: added.length, removed: removed.length };
    if (added.length + removed.length === 0) {
      terminal.answer(count, () => "The rules are those of the file.");
      return EXIT.ok;
    }
    if (!(await askYesNo(context, flags, "Change the rules so?"))) {
      terminal.say("Nothing was changed.");
      return EXIT.notApproved;
    }
    if (!(await admin.rules.change(change, MADE_BY))) {
      const hint = `Run "svc rules apply ${path}" again.`;
      throw new SvcError("invalid_config", "The rules changed meanwhile.", { field: "file", hint });
    }
    terminal.answer(count, () => "The rules of the file are in force from the next call on.");
    return EXIT.ok;
  });
}

async function readRuleFile(path: string): Promise<readonly Record<string, unknown>[]> {
  const refuse = (why: string, cause?: unknown) => {
    const hint = 'It looks like the output of "svc rules export".';
    return new SvcError("invalid_config", `${path} cannot be used: ${why}`, { field: "file", hint, cause });
  };
  try {
    const read = fileSchema.safeParse(parse(await readFile(path, "utf8")));
    if (read.success) return read.data.rules;
    throw refuse("it has no list `rules` alone.");
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw refuse(error instanceof Error ? (error.message.split("\n")[0] ?? "") : "it cannot be read.", error);
  }
}

/** @throws SvcError `invalid_config` for a malformed rule, and for an unknown account or key. */
function readRule(admin: RulesAdmin, given: Record<string, unknown>, where: string): RuleContent {
  const read = ruleContentSchema.safeParse(given);
  if (!read.success) {
    const [issue] = read.error.issues;
    const field = issue?.path.join(".") ?? "";
    throw new SvcError("invalid_config", `${where}${issue?.message ?? ""}`, { field: field || "rule" });
  }
  const account = findNamed(admin.accounts, read.data.account, `${where}account`);
  const key = findNamed(admin.keys, read.data.key, `${where}key`);
  return { ...read.data, ...(account !== undefined && { account }), ...(key !== undefined && { key }) };
}

/** The id of an account or key, which is named by its id or by its label, if that is unique. */
function findNamed(all: readonly Named[], name: string | undefined, field: string): string | undefined {
  // OAuth clients are known by their ids alone.
  if (name === undefined || name.startsWith("oauth_") || all.some(({ id }) => id === name)) return name;
  const [only, ...others] = all.filter(({ label }) => label === name);
  if (only !== undefined && others.length === 0) return only.id;
  const shown = all.map(({ id, label }) => `${id} (${toPlainText(label)})`).join(", ");
  const many = others.length === 0 ? "Nothing is" : "Several are";
  throw new SvcError("invalid_config", `${many} called "${name}".`, { field, hint: `There are: ${shown || "none"}.` });
}

function findTool({ tools }: RulesAdmin, name: string): CatalogEntry {
  const [app = "", action] = name.split("/");
  const entry = action === undefined ? tools.find(name) : tools.findAction(app, action);
  if (entry !== undefined) return entry;
  const near = tools.suggest(name).map(({ toolName }) => toolName);
  throw new SvcError("invalid_config", `There is no tool "${name}".`, {
    field: "tool",
    hint: near.length === 0 ? "Name a tool as svc tools does, or app/action." : `Did you mean ${near.join(", ")}?`,
  });
}

/** The tools that a new rule is about. */
function describeReach({ terminal }: CliContext, { tools }: RulesAdmin, content: RuleContent): string[] {
  const meant = tools.entries.filter((entry) => isAbout(content, entry)).map(({ toolName }) => toPlainText(toolName));
  if (meant.length === 0) return ["No tool matches now; it counts for tools that come later."];
  const more = meant.length > SHOWN_TOOLS ? ` and ${meant.length - SHOWN_TOOLS} more` : "";
  return [wrapWords(`About ${meant.slice(0, SHOWN_TOOLS).join(", ")}${more}.`, terminal.columns, "  ")];
}

/** A rule with its id, its conditions and its author. */
function describeRow({ terminal }: CliContext, admin: RulesAdmin, rule: Rule): string {
  const made = `${toPlainText(rule.madeBy)}, ${rule.madeAt.slice(0, 10)}`;
  return wrapWords(`${rule.id}  ${describeContent(admin, rule)}  (${made})`, terminal.columns, "    ");
}

function describeContent({ accounts, keys }: RulesAdmin, rule: RuleContent): string {
  const name = (all: readonly Named[], id: string) => toPlainText(all.find((one) => one.id === id)?.label ?? id);
  const parts = [
    `${rule.effect.padEnd(5)}  ${rule.tool}`,
    ...(rule.level === undefined ? [] : [`level ${rule.level}`]),
    ...(rule.account === undefined ? [] : [`account ${name(accounts, rule.account)}`]),
    ...(rule.key === undefined ? [] : [`key ${name(keys, rule.key)}`]),
    ...(rule.note === undefined ? [] : [`"${toPlainText(rule.note)}"`]),
  ];
  return parts.join(", ");
}

async function withRules<T>(
  { places }: CliContext,
  { data, database }: SourceFlags,
  work: (admin: RulesAdmin) => Promise<T>,
): Promise<T> {
  const admin = await openRulesAdmin({ dataDir: data ?? places.service, database });
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}
