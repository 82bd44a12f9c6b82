import { html } from "hono/html";
import { csrfField, type Markup } from "./page.ts";
import { exactTimeTag } from "./values.ts";

/** The button that stops an approved call; `until` in ISO 8601, undefined for one that waits for its turn. */
export function stopForm(
  action: string,
  { until, csrfToken }: { readonly until: string | undefined; readonly csrfToken: string },
): Markup {
  const when =
    until === undefined ? "It runs once those before it have ended" : html`It is done at ${exactTimeTag(until)}`;
  return html`<form method="post" action="${action}">${csrfField(csrfToken)}
<p class="notice warn">${when}, unless you stop it. <button name="decision" value="stop">Stop it</button></p></form>`;
}
