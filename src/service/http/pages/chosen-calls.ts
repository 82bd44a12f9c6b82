import { html } from "hono/html";
import { MAX_REASON } from "./call-card.ts";
import type { Markup } from "./page.ts";

/**
 * Makes Enter in a field of its form do nothing: browsers press the first button of a form for it, which this is, and without a
 * dialog around it this one sends nothing. Neither a reason nor a box can approve so.
 */
export const ENTER_DOES_NOTHING: Markup = html`<button name="decision" value="none" formmethod="dialog" hidden></button>`;

/** The part of a form that declines the calls that are chosen in it, with one reason for all. */
export function declineChosen(): Markup {
  return html`<details class="more"><summary>Decline the chosen calls</summary>
<div class="field"><label for="reason">Reason for the agents <span class="optional">(optional)</span></label><input id="reason" name="reason" maxlength="${MAX_REASON}" autocomplete="off"></div>
<button class="secondary" name="decision" value="decline">Decline the chosen calls</button></details>`;
}
