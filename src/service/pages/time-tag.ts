import { html } from "hono/html";
import { exactTime } from "../exact-time.ts";
import { describeTime } from "./describe-time.ts";
import type { Markup } from "./page.ts";

/** A time as a person says it, with the exact one (UTC) for those who point at it. */
export function timeTag(iso: string, now: number): Markup {
  return html`<time datetime="${iso}" title="${exactTime(iso)}">${describeTime(iso, now)}</time>`;
}
