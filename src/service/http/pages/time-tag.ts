import { html } from "hono/html";
import { exactTime } from "../../../base/text.ts";
import type { Markup } from "./page.ts";

/** A distance in time as a person says it, e.g. "3 minutes ago", "in 12 minutes", "just now". */
export function describeTime(iso: string, now: number): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1000);
  const size = Math.abs(seconds);
  if (size < 45) return "just now";
  const [amount, unit] =
    size < 3600 ? [size / 60, "minute"] : size < 86_400 ? [size / 3600, "hour"] : [size / 86_400, "day"];
  const count = Math.max(1, Math.round(amount));
  const phrase = `${count} ${unit}${count === 1 ? "" : "s"}`;
  return seconds < 0 ? `${phrase} ago` : `in ${phrase}`;
}

/** {@link describeTime} with the exact time (UTC) as its title. */
export function timeTag(iso: string, now: number): Markup {
  return html`<time datetime="${iso}" title="${exactTime(iso)}">${describeTime(iso, now)}</time>`;
}
