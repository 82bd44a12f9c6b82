import { html } from "hono/html";
import {
  addRules,
  applyLevels,
  explainLevel,
  type LevelPolicy,
  parseLevelRule,
} from "../../../apps/port/action-levels.ts";
import type { IntegrationSource } from "../../../apps/port/source.ts";
import type { StoredAction } from "../../../apps/port/source-content.ts";
import { SIDE_EFFECT_LEVELS } from "../../../shared/wire/catalog.ts";
import type { Markup } from "./page.ts";

/** Id of the form that the choices of levels belong to, wherever on the page they are. */
export const AGREE_FORM = "agree";

/** The level of one action, below what else is told about it. */
export function levelField(action: StoredAction, source: IntegrationSource): Markup {
  return html`<div class="level"><label for="level-${action.id}">Level<span class="hidden"> of ${action.id}</span></label>${levelSelect(action)}
<p class="help" id="why-${action.id}">${explainLevel(action, source)}</p></div>`;
}

/** The levels of many actions, in one line each. */
export function levelRows(actions: readonly StoredAction[], source: IntegrationSource): Markup {
  return html`<ul class="rows">${actions.map(
    (
      action,
    ) => html`<li><div><label for="level-${action.id}"><span class="hidden">Level of </span><code>${action.id}</code></label>
<span class="muted" id="why-${action.id}">${explainLevel(action, source)}</span></div><div class="level">${levelSelect(action)}</div></li>`,
  )}</ul>`;
}

function levelSelect({ id, level }: StoredAction): Markup {
  return html`<select id="level-${id}" name="level.${id}" form="${AGREE_FORM}" aria-describedby="why-${id}">${SIDE_EFFECT_LEVELS.map(
    (one) => html`<option${one === level ? html` selected` : ""}>${one}</option>`,
  )}</select>`;
}

/** One choice that counts over all others; nothing where it would change nothing. */
export function ownLevelsChoice({ kind, levels, content, proposal }: IntegrationSource): Markup {
  if (levels.trusted && (levels.levels ?? []).length === 0) return html``;
  const { actions } = applyLevels(proposal?.content ?? content, { trusted: true });
  const counts = SIDE_EFFECT_LEVELS.map(
    (level) => [actions.filter((one) => one.level === level).length, level] as const,
  );
  const shown = counts.flatMap(([count, level]) => (count === 0 ? [] : [`${count} ${level}`])).join(", ");
  const label = kind === "mcp" ? "Use the server's own marks for all actions" : "Use the HTTP methods for all actions";
  return html`<div class="choice"><input type="checkbox" id="own" name="own" value="yes"><label for="own"><strong>${label}</strong><br><span class="muted">That is ${shown}. The levels chosen above and earlier ones do not count then.</span></label></div>`;
}

/** The change that was chosen, against the levels that the page has shown. */
export function readLevelChoice(form: URLSearchParams, shown: IntegrationSource, now: number): Partial<LevelPolicy> {
  if (form.has("own")) return { trusted: true, levels: [] };
  const set = { setAt: new Date(now).toISOString(), setIn: "dashboard" } as const;
  const { actions } = shown.proposal?.content ?? shown.content;
  const chosen = actions.flatMap(({ id, level }) => {
    const rule = parseLevelRule(`${id}=${form.get(`level.${id}`)}`, set);
    return rule === undefined || rule.level === level ? [] : [rule];
  });
  return { levels: addRules(shown.levels.levels, chosen) };
}
