import { html } from "hono/html";
import { z } from "zod";
import { EXACT, toPlainText } from "../../../shared/card/plain-text.ts";
import type { HeldApproval } from "../../approvals/approval-rows.ts";
import type { Approvals } from "../../approvals/approvals.ts";
import { type ShownCall, wholeCall } from "./call-card.ts";
import { declineChosen, ENTER_DOES_NOTHING } from "./chosen-calls.ts";
import { csrfField, type Markup } from "./page.ts";

const text = z.string().min(1).max(300).optional().catch(undefined);
const querySchema = z.object({ caller: text, tool: text, account: text });

/** Most calls on one page, and most characters of their arguments together. */
const MAX_CALLS = 50;
const MAX_CHARS = 1_000_000;

/** Calls that wait, of one caller, tool or account: as many of the first ones as a page can show whole. */
export async function readTogether(
  approvals: Pick<Approvals, "list">,
  accountId: string,
  query: Readonly<Record<string, string>>,
): Promise<{ readonly calls: readonly HeldApproval[]; readonly total: number }> {
  const { caller: apiKeyId, tool: toolName, account: connectionId } = querySchema.parse(query);
  const filter = { apiKeyId, toolName, connectionId, isWaiting: true, isOldestFirst: true, limit: 500 };
  const all = (await approvals.list(accountId, filter)).filter(({ content }) => content !== undefined);
  let chars = 0;
  const calls = all.slice(0, MAX_CALLS).filter(({ content }, index) => {
    chars += JSON.stringify(content?.arguments).length;
    return index === 0 || chars <= MAX_CHARS;
  });
  return { calls, total: all.length };
}

/** Several calls, whole, in the order in which they were asked and would run, with one decision for those that are chosen. */
export function togetherBody(o: {
  readonly items: readonly ShownCall[];
  readonly total: number;
  readonly csrfToken: string;
}): Markup {
  const { items, total } = o;
  const back = html`<p class="pages"><a href="/inbox">Back to the inbox</a></p>`;
  if (items.length === 0) return html`<h1>Several calls</h1><p class="lead">None of these wait any more.</p>${back}`;
  const rest = total - items.length;
  return html`<h1>${items.length === 1 ? "1 call" : `${items.length} calls`}</h1>
<p class="lead">In the order in which they were asked. <a href="#decide">Go to the decision</a></p>
<form method="post" action="/inbox/approve">${csrfField(o.csrfToken)}${ENTER_DOES_NOTHING}
${items.map(callPart)}
<section class="card" id="decide" aria-labelledby="decision">
<h2 id="decision">Your decision</h2>
<p>Approve the chosen ones? Each runs once, exactly as shown. On one account they run one after another; if one does not succeed, those behind it wait for you again.</p>
${rest === 0 ? "" : html`<p>${rest} more wait: they are not on this page, and not decided with it.</p>`}
<div class="actions"><button class="primary" name="decision" value="approve">Approve the chosen calls</button></div>
${declineChosen()}
</section>
</form>
${back}`;
}

function callPart(item: ShownCall, index: number): Markup {
  const { id, fingerprint, content } = item.approval;
  if (content === undefined) return html``;
  const name = `call-${index + 1}`;
  return html`<section class="card" aria-labelledby="${name}">
<div class="title"><h2 id="${name}">${index + 1}. ${toPlainText(content.title, EXACT)}</h2>
<label class="pick"><input type="checkbox" name="call" value="${id} ${fingerprint}" checked> Choose<span class="hidden"> ${index + 1}. ${toPlainText(content.title, EXACT)}</span></label></div>
${content.preview === undefined ? "" : html`<p>${toPlainText(content.preview.summary, EXACT)}</p>`}
${wholeCall(item, content)}
</section>`;
}
