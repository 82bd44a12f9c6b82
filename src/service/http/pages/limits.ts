import { html } from "hono/html";
import { SIDE_EFFECT_LEVELS, type SideEffectLevel } from "../../../shared/wire/catalog.ts";
import type { KeyScopes } from "../../../shared/wire/key-scopes.ts";
import { exceeds, hasLimits, readKeyScopes } from "../../access/key-scopes.ts";
import { ServiceError } from "../../service-error.ts";
import type { ApprovalMode } from "../../store/schema.ts";
import type { ServiceParts } from "../service-parts.ts";
import { type Markup, readApprovals } from "./page.ts";

/** Names for the limits of a key: apps by slug and accounts by id, as people know them. */
export interface LimitNames {
  readonly apps: ReadonlyMap<string, string>;
  readonly accounts: ReadonlyMap<string, string>;
}

const LEVELS: Readonly<Record<SideEffectLevel, readonly [name: string, meaning: string]>> = {
  read: ["Read", "looks things up"],
  write: ["Write", "creates and changes things"],
  delete: ["Delete", "removes things"],
  admin: ["Admin", "changes how an app is set up"],
};

const DAYS = [1, 7, 30, 90, 365];

/** Reads the names of all apps and accounts. */
export async function listLimitNames({ catalog, connections }: ServiceParts): Promise<LimitNames> {
  const apps = new Map(catalog.integrations.map(({ slug, name }) => [slug, name]));
  const own = await connections.list();
  return {
    apps,
    accounts: new Map(
      own.map(({ id, label, integration }) => [id, `${label} (${apps.get(integration) ?? integration})`]),
    ),
  };
}

/** Requested limits, with apps by their slugs; an unknown name stays. */
export function resolveApps(
  { integrations, ...others }: KeyScopes,
  { catalog }: Pick<ServiceParts, "catalog">,
): KeyScopes {
  if (integrations === undefined) return others;
  return { ...others, integrations: integrations.map((name) => catalog.findIntegration(name)?.slug ?? name) };
}

/** The limits in plain words, one each; none for a key without limits. */
export function describeLimits({ integrations, levels, tools, connections }: KeyScopes, names: LimitNames): string[] {
  const list = (ids: readonly string[], known: ReadonlyMap<string, string>) =>
    ids.map((id) => known.get(id) ?? `${id} (not there)`).join(", ");
  return [
    ...(levels === undefined ? [] : [`May only ${levels.map((level) => LEVELS[level][0].toLowerCase()).join(", ")}`]),
    ...(integrations === undefined ? [] : [`Only these apps: ${list(integrations, names.apps)}`]),
    ...(connections === undefined ? [] : [`Only these accounts: ${list(connections, names.accounts)}`]),
    ...(tools === undefined ? [] : [`Only these tools: ${tools.join(", ")}`]),
  ];
}

/** Requested limits in plain words; none when everything is requested. */
export function describeAsked(scopes: KeyScopes, names: LimitNames): string[] {
  const { expiresInDays: days, approvals } = scopes;
  return [
    ...describeLimits(scopes, names),
    ...(days === undefined ? [] : [`For ${days} ${days === 1 ? "day" : "days"}`]),
    ...(approvals === "owner" ? ["You approve each call that changes something"] : []),
  ];
}

interface LimitsForm {
  /** Preset of every field. */
  readonly scopes: KeyScopes;
  readonly names: LimitNames;
  /** End of a key that has one already, which stays unless another is chosen. */
  readonly expiresAt?: string | null;
  /** Adds the choice without which nothing wider than `scopes` is taken. */
  readonly isAsked: boolean;
}

/** The fields of the limits, for {@link readLimits}. */
export function limitsFields({ scopes, names, expiresAt = null, isAsked }: LimitsForm): Markup {
  const { levels, integrations, connections, tools = [] } = scopes;
  return html`<input type="hidden" name="limits" value="yes">
<fieldset><legend>It may</legend>${SIDE_EFFECT_LEVELS.map((level) => {
    const [name, meaning] = LEVELS[level];
    return checkbox({
      name: "level",
      value: level,
      isOn: levels?.includes(level) ?? true,
      label: html`${name} <span class="help">${meaning}</span>`,
    });
  })}</fieldset>
${pickList({ name: "app", legend: "Apps", all: "All apps, also those added later", picked: integrations, known: names.apps })}
${pickList({ name: "account", legend: "Accounts", all: "All accounts, also those connected later", picked: connections, known: names.accounts })}
<div class="field"><label for="tools">Only these tools <span class="optional">optional</span></label>
<p class="help" id="tools-help">Names or patterns such as <code>mail/*</code>, one in each line. Empty: all tools of the above.</p>
<textarea id="tools" name="tools" rows="${Math.min(Math.max(tools.length, 2), 8)}" spellcheck="false" autocapitalize="none" aria-describedby="tools-help">${tools.join("\n")}</textarea></div>
<div class="field"><label for="ends">Ends</label><select id="ends" name="ends">${endOptions(scopes, expiresAt)}</select></div>
${isAsked ? checkbox({ name: "wider", value: "yes", isOn: false, label: html`<strong>Give more than was asked for</strong> <span class="help">Without this tick, limits can only be made narrower.</span>` }) : ""}`;
}

/** The whole choice behind one line that says how it stands. */
export function foldLimits(form: LimitsForm): Markup {
  const said = describeLimits(form.scopes, form.names);
  const summary = said.length === 0 ? "Everything. Limit it" : "Look at the limits, or change them";
  return html`<details class="more"${hasLimits(form.scopes) ? html` open` : ""}><summary>What it may use: ${summary}</summary>${limitsFields(form)}</details>`;
}

function checkbox(o: { name: string; value: string; isOn: boolean; label: string | Markup }): Markup {
  const id = `${o.name}-${o.value}`;
  return html`<div class="choice"><input type="checkbox" id="${id}" name="${o.name}" value="${o.value}"${o.isOn ? html` checked` : ""}><label for="${id}">${o.label}</label></div>`;
}

function pickList(o: {
  name: "app" | "account";
  legend: string;
  all: string;
  picked: readonly string[] | undefined;
  known: ReadonlyMap<string, string>;
}): Markup {
  const { name, picked } = o;
  const isAll = picked === undefined;
  const missing = (picked ?? []).filter((id) => !o.known.has(id)).map((id) => [id, `${id} (not there)`] as const);
  const radio = (value: "all" | "some", label: string, isOn: boolean) =>
    html`<div class="choice"><input type="radio" id="${name}s-${value}" name="${name}s" value="${value}"${isOn ? html` checked` : ""}><label for="${name}s-${value}">${label}</label></div>`;
  return html`<fieldset class="limit"><legend>${o.legend}</legend>
${radio("all", o.all, isAll)}${radio("some", "Only these", !isAll)}
<div class="some">${[...o.known, ...missing].map(([value, label]) => checkbox({ name, value, isOn: picked?.includes(value) ?? false, label }))}</div>
</fieldset>`;
}

function endOptions({ expiresInDays }: KeyScopes, expiresAt: string | null): Markup[] {
  const option = (value: string, text: string, isOn: boolean) =>
    html`<option value="${value}"${isOn ? html` selected` : ""}>${text}</option>`;
  const days = [...new Set([...DAYS, ...(expiresInDays === undefined || expiresAt !== null ? [] : [expiresInDays])])];
  return [
    ...(expiresAt === null ? [] : [option("keep", `As now: ${expiresAt.slice(0, 10)}`, true)]),
    option("never", "Never", expiresAt === null && expiresInDays === undefined),
    ...days
      .sort((a, b) => a - b)
      .map((count) =>
        option(
          String(count),
          `In ${count} ${count === 1 ? "day" : "days"}`,
          expiresAt === null && count === expiresInDays,
        ),
      ),
  ];
}

/**
 * Limits from an approval form: not wider than requested, unless the owner has ticked that too.
 *
 * @param o.approvals preset of who approves its calls; undefined where the service leaves no choice
 * @throws ServiceError 400 as {@link readLimits}, and for more than was asked for.
 */
export function readGrant(
  form: URLSearchParams,
  o: { asked: KeyScopes; approvals: ApprovalMode | undefined },
): KeyScopes {
  const { asked } = o;
  const limits = readLimits(form, asked);
  const kept = asked.approvals === "owner" ? "owner" : undefined;
  const scopes = {
    ...limits,
    approvals: o.approvals === undefined ? kept : readApprovals(form, asked.approvals ?? o.approvals),
  };
  if (!exceeds(scopes, asked) || form.get("wider") === "yes") return scopes;
  throw refuse("This is more than was asked for. If you mean it, tick “Give more than was asked for”.");
}

/**
 * The limits that a form chose; `base` where it does not say.
 *
 * @throws ServiceError 400 for a list with nothing ticked, and for a malformed pattern on tools.
 */
export function readLimits(form: URLSearchParams, base: KeyScopes): KeyScopes {
  if (!form.has("limits")) return base;
  const pick = (name: "app" | "account", was: readonly string[] | undefined) => {
    const choice = form.get(`${name}s`);
    if (choice !== "some") return choice === "all" ? undefined : was;
    const picked = form.getAll(name);
    if (picked.length === 0) throw refuse(`Tick at least one ${name}, or decline.`);
    return picked;
  };
  const levels = SIDE_EFFECT_LEVELS.filter((level) => form.getAll("level").includes(level));
  if (levels.length === 0) throw refuse("Tick at least one thing that it may do, or decline.");
  const tools = (form.get("tools") ?? "").split(/[\s,]+/).filter((pattern) => pattern !== "");
  const ends = form.get("ends");
  const days = ends === "keep" || ends === null ? base.expiresInDays : ends === "never" ? undefined : Number(ends);
  const chosen = {
    approvals: base.approvals,
    integrations: pick("app", base.integrations),
    levels: levels.length === SIDE_EFFECT_LEVELS.length ? undefined : levels,
    connections: pick("account", base.connections),
    tools: tools.length === 0 ? undefined : tools,
    expiresInDays: days,
  };
  const read = readKeyScopes(JSON.parse(JSON.stringify(chosen)));
  if (typeof read === "string") throw refuse(read.replace(/^`scopes\.([a-zA-Z]+)[^`]*`: /, ""));
  return read;
}

function refuse(message: string): ServiceError {
  return new ServiceError(400, "invalid_scopes", `${message} Go back and correct it.`);
}
