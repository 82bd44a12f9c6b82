import { html } from "hono/html";
import { describeTime } from "./describe-time.ts";
import type { Markup } from "./page.ts";

/** A time as a person says it, with the exact one (UTC) for those who point at it. */
export function timeTag(iso: string, now: number): Markup {
  return html`<time datetime="${iso}" title="${exactTime(iso)}">${describeTime(iso, now)}</time>`;
}

/** E.g. `2026-03-04 10:15:00 UTC`. */
export function exactTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}
