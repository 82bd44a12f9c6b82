import type { Hono } from "hono";
import { html } from "hono/html";
import { SIDE_EFFECT_LEVELS } from "../../../shared/wire/catalog.ts";
import {
  describeFate,
  describeRule,
  findRule,
  isAbout,
  type Rule,
  type RuleContent,
  ruleContentSchema,
} from "../../access/rules.ts";
import type { CatalogEntry } from "../../catalog/catalog-entry.ts";
import { findDefaultConnection } from "../../connections/connections.ts";
import { MAX_RULE_USES, type RuleUse } from "../../executions/activity.ts";
import { ServiceError } from "../../service-error.ts";
import { ownerPages } from "../owner-browser.ts";
import { findNotice, type RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { nameCallers } from "./name-callers.ts";
import { csrfField, type Markup, noticeLine } from "./page.ts";
import { tag, timeTag } from "./values.ts";

const NOTICES: Readonly<Record<string, string>> = {
  added:
    "The rule was added. It counts from the next call on. Of the calls that wait already, those that it blocks were declined; those that it allows stay in the inbox, where you can approve them together.",
  removed: "The rule was removed. It counts from the next call on.",
};

/** The rules of the owner: a list, a form for a new one, and one to try them. */
export function addRulePages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts);
  const render = async (o: Pick<RulesPage, "csrfToken" | "notice" | "draft" | "tried"> & { accountId: string }) => {
    const rules = await parts.rules.list();
    const { entries } = parts.catalog;
    const body = rulesBody({
      ...o,
      rules,
      unmatched: new Set(rules.filter((rule) => !entries.some((entry) => isAbout(rule, entry))).map(({ id }) => id)),
      apps: parts.catalog.integrations.map(({ slug }) => slug),
      uses: await findUses(parts, o.accountId, rules),
      accounts: await nameAccounts(parts),
      callers: await nameCallers(parts, o.accountId, await parts.keys.list(o.accountId)),
      now: parts.now(),
    });
    return { title: "Rules", body, section: "rules" } as const;
  };
  addPage("/rules", async (c, { accountId, csrfToken }) => {
    const tried = await tryRules(parts, c.req.query());
    return render({ accountId, csrfToken, draft: {}, tried, notice: findNotice(NOTICES, c.req.query("notice")) });
  });
  addForm("/rules", async (_c, { owner, form, audit }) => {
    const { csrf: _, ...draft } = Object.fromEntries([...form].filter(([, value]) => value.trim() !== ""));
    const read = ruleContentSchema.safeParse(draft);
    if (read.success) {
      const { id } = await parts.rules.add(read.data, owner.person.name);
      audit({ event: "rule.added", did: "added the rule", name: describeRule(read.data), id });
      await parts.approvals.applyRules();
      return "/rules?notice=added";
    }
    const [issue] = read.error.issues;
    const problem = { field: String(issue?.path[0] ?? ""), text: issue?.message ?? "" };
    return {
      ...(await render({ ...owner, draft: { ...draft, problem }, tried: undefined, notice: undefined })),
      status: 400,
    };
  });
  addForm("/rules/:id/remove", async (c, { audit }) => {
    const id = c.req.param("id");
    const rule = (await parts.rules.list()).find((one) => one.id === id);
    const isRemoved = await parts.rules.remove(id);
    if (rule === undefined || !isRemoved)
      throw new ServiceError(404, "unknown_rule", "There is no such rule, or it is removed already.");
    audit({ event: "rule.removed", did: "removed the rule", name: describeRule(rule), id });
    return "/rules?notice=removed";
  });
}

/** A call that the owner tries, and the effect of the rules on it. */
interface Tried {
  readonly tool: string;
  readonly account: string | undefined;
  readonly key: string | undefined;
  readonly entry: CatalogEntry | undefined;
  readonly rule: Rule | undefined;
}

async function tryRules(parts: ServiceParts, query: Readonly<Record<string, string>>): Promise<Tried | undefined> {
  const tool = query.tool?.trim() ?? "";
  if (tool === "") return undefined;
  const { account: named = "", key = "" } = query;
  const [app = "", action] = tool.split("/");
  const entry = action === undefined ? parts.catalog.find(tool) : parts.catalog.findAction(app, action);
  const own = entry === undefined ? [] : await parts.connections.list(entry.integration.slug);
  const account = named === "" ? findDefaultConnection(own)?.id : named;
  const rule = entry && findRule(await parts.rules.list(), { entry, connectionId: account, subject: key });
  return { tool, account: named || undefined, key: key || undefined, entry, rule };
}

async function nameAccounts(parts: ServiceParts): Promise<Map<string, string>> {
  const apps = new Map(parts.catalog.integrations.map(({ slug, name }) => [slug, name]));
  const all = await parts.connections.list();
  return new Map(all.map(({ id, label, integration }) => [id, `${label} (${apps.get(integration) ?? integration})`]));
}

interface RulesPage {
  readonly rules: readonly Rule[];
  /** Ids of the rules that no tool fits now. */
  readonly unmatched: ReadonlySet<string>;
  /** What they let run, by their ids. */
  readonly uses: ReadonlyMap<string, RuleUse>;
  /** Slugs, to choose a pattern from. */
  readonly apps: readonly string[];
  /** Names of connections and of keys and OAuth clients, by id. */
  readonly accounts: ReadonlyMap<string, string>;
  readonly callers: ReadonlyMap<string, string>;
  readonly csrfToken: string;
  readonly now: number;
  readonly notice: string | undefined;
  /** The new rule as typed, and its mistake. */
  readonly draft: Readonly<Partial<Record<keyof RuleContent, string>>> & { problem?: { field: string; text: string } };
  readonly tried: Tried | undefined;
}

/** Effects in words for people. */
const EFFECTS = [
  ["block", "Block", "Calls are refused."],
  ["ask", "Ask", "Calls need an approval, also those that only read."],
  ["allow", "Allow", "Calls run, and the service asks nobody. Never those that delete or administer."],
] as const;

function rulesBody(o: RulesPage): Markup {
  const { problem } = o.draft;
  return html`<h1>Rules</h1>
<p class="lead">What you decide about calls in advance. Of several rules that fit, the strictest counts: block over ask over allow.</p>
${noticeLine(o.notice)}
${problem === undefined ? "" : html`<p class="notice bad" role="alert">The rule was not added. <a href="#${problem.field === "effect" ? "effect-block" : problem.field}">${problem.text}</a></p>`}
<section class="card" aria-labelledby="in-force"><h2 id="in-force">In force</h2>
${
  o.rules.length === 0
    ? html`<p class="muted">There is no rule. Reads run, and everything else needs an approval.</p>`
    : html`<ul class="rows">${o.rules.map((rule) => ruleRow(rule, o))}</ul>`
}
</section>
<div class="columns">${addCard(o)}${tryCard(o)}</div>`;
}

function ruleRow(rule: Rule, o: RulesPage): Markup {
  const { id, effect, tool, madeBy, madeAt, note } = rule;
  const name = EFFECTS.find(([one]) => one === effect)?.[1] ?? effect;
  return html`<li><div><strong>${name} <code>${tool}</code></strong><span class="muted">${conditionsOf(rule, o)}${note === undefined ? "" : html`“${note}” · `}${madeBy}, ${timeTag(madeAt, o.now)}${usesOf(o.uses.get(id), o.now)}</span>${o.unmatched.has(id) ? html`<br>${tag("warn", "No tool matches now")}` : ""}</div>
<details><summary aria-label="Remove ${effect} ${tool}">Remove</summary>
<form method="post" action="/rules/${id}/remove">${csrfField(o.csrfToken)}<button class="danger">Remove<span class="hidden"> ${effect} ${tool}</span></button></form>
</details></li>`;
}

/** Of the rules that allow, by their ids. */
async function findUses({ activity }: ServiceParts, accountId: string, rules: readonly Rule[]) {
  const uses = new Map<string, RuleUse>();
  for (const rule of rules) if (rule.effect === "allow") uses.set(rule.id, await activity.findRuleUse(accountId, rule));
  return uses;
}

function usesOf(use: RuleUse | undefined, now: number): Markup | "" {
  if (use === undefined) return "";
  const { count, last } = use;
  if (last === undefined) return html` · has let no call of the log run`;
  const times = count === MAX_RULE_USES ? "1,000 calls or more" : count === 1 ? "1 call" : `${count} calls`;
  return html` · let ${times} run, last ${timeTag(last, now)}`;
}

function conditionsOf({ level, account, key }: Rule, { accounts, callers }: RulesPage): string {
  const parts = [
    level && `level ${level}`,
    account && (accounts.get(account) ?? "an account that is gone"),
    key && (callers.get(key) ?? "a key without access"),
  ];
  return parts.flatMap((part) => (part === undefined ? [] : [`${part} · `])).join("");
}

function addCard(o: RulesPage): Markup {
  const { draft } = o;
  const problemOf = (field: string) => (draft.problem?.field === field ? draft.problem.text : undefined);
  const said = (field: string) =>
    problemOf(field) === undefined ? "" : html`<p class="problem" id="${field}-problem">${problemOf(field)}</p>`;
  const mark = (field: string, help = "") => {
    const described = problemOf(field) === undefined ? help : `${help} ${field}-problem`.trim();
    return html`${problemOf(field) === undefined ? "" : html` aria-invalid="true"`}${described === "" ? "" : html` aria-describedby="${described}"`}`;
  };
  return html`<section class="card" aria-labelledby="add"><h2 id="add">Add a rule</h2>
<form method="post" action="/rules" novalidate>${csrfField(o.csrfToken)}
<fieldset><legend>Effect</legend>${said("effect")}${EFFECTS.map(
    ([effect, name, help]) =>
      html`<div class="choice"><input type="radio" id="effect-${effect}" name="effect" value="${effect}"${effect === (draft.effect ?? "block") ? html` checked` : ""}><label for="effect-${effect}">${name} <span class="help">${help}</span></label></div>`,
  )}</fieldset>
<div class="field"><label for="tool">Tools</label><p class="help" id="tool-help">A tool name, app/action, or a pattern with * such as <code>mail/*</code>.</p>${said("tool")}
<input id="tool" name="tool" list="apps" value="${draft.tool ?? ""}" maxlength="128" autocomplete="off" autocapitalize="off" spellcheck="false"${mark("tool", "tool-help")}>
<datalist id="apps">${o.apps.map((slug) => html`<option value="${slug}/*">`)}</datalist></div>
<div class="field"><label for="level">Level</label>${said("level")}${select("level", { chosen: draft.level, any: "Any", choices: SIDE_EFFECT_LEVELS.map((level) => [level, level]) }, mark("level"))}</div>
<div class="field"><label for="account">Account</label>${select("account", { chosen: draft.account, any: "Any", choices: [...o.accounts] })}</div>
<div class="field"><label for="key">Device or app</label>${select("key", { chosen: draft.key, any: "Any", choices: [...o.callers] })}</div>
<div class="field"><label for="note">Note <span class="optional">(optional)</span></label>${said("note")}<input id="note" name="note" value="${draft.note ?? ""}" maxlength="200" autocomplete="off"></div>
<div class="actions"><button class="primary">Add rule</button></div>
</form></section>`;
}

interface Choices {
  readonly chosen: string | undefined;
  /** Name of the choice that stands for all. */
  readonly any: string;
  readonly choices: readonly (readonly [value: string, name: string])[];
}

function select(id: string, { chosen, any, choices }: Choices, marks: Markup | "" = ""): Markup {
  return html`<select id="${id}" name="${id.replace("try-", "")}"${marks}><option value="">${any}</option>${choices.map(
    ([value, name]) => html`<option value="${value}"${value === chosen ? html` selected` : ""}>${name}</option>`,
  )}</select>`;
}

function tryCard(o: RulesPage): Markup {
  const { tried } = o;
  return html`<section class="card" aria-labelledby="try"><h2 id="try">Try it</h2>
<p class="muted">Says what becomes of a call. Nothing is run.</p>
${tried === undefined ? "" : triedResult(tried)}
<form method="get" action="/rules#try">
<div class="field"><label for="try-tool">Tool</label><input id="try-tool" name="tool" value="${tried?.tool ?? ""}" required maxlength="200" autocomplete="off" autocapitalize="off" spellcheck="false"></div>
<div class="field"><label for="try-account">Account</label>${select("try-account", { chosen: tried?.account, any: "The default one", choices: [...o.accounts] })}</div>
<div class="field"><label for="try-key">Device or app</label>${select("try-key", { chosen: tried?.key, any: "One without rules of its own", choices: [...o.callers] })}</div>
<div class="actions"><button>Try</button></div>
</form></section>`;
}

function triedResult({ tool, entry, rule }: Tried): Markup {
  if (entry === undefined) {
    return html`<div class="notice warn" role="status"><p>There is no tool <code>${tool}</code>.</p></div>`;
  }
  const why = rule === undefined ? "" : html`<p class="muted">Decided by: ${rule.effect} <code>${rule.tool}</code></p>`;
  return html`<div class="notice${rule?.effect === "block" ? " bad" : ""}" role="status"><p><code>${entry.toolName}</code> (${entry.action.level}): ${describeFate(entry, rule)}</p>${why}</div>`;
}
