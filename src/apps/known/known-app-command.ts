import MiniSearch from "minisearch";
import { quoteWord } from "../../shared/base/text.ts";
import { type KnownApp, type KnownOptions, knownApps } from "./known-apps.ts";

/** How an app is added: its own options, or those that the owner gives instead. */
export interface KnownWay extends KnownOptions {
  readonly address: string;
  readonly name: string;
}

/** The long command that a known app stands for, as a shell takes it. */
export function writeLongCommand({ kind, slug }: Pick<KnownApp, "kind" | "slug">, way: KnownWay): string {
  const { address, ...options } = way;
  const flags = Object.entries(options).flatMap(([name, value]) => {
    const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return value === true ? [flag] : [value].flat().flatMap((one) => [flag, one]);
  });
  const words = ["svc", "add", kind, slug, ...(kind === "mcp" ? ["--url"] : []), address, ...flags];
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoteWord(word))).join(" ");
}

/** Known apps whose name or purpose is close to `text`, the closest first; all of them, in their order, without a text. */
export function searchKnownApps(text: string): readonly KnownApp[] {
  if (text.trim() === "") return knownApps;
  const index = new MiniSearch<KnownApp>({ idField: "slug", fields: ["slug", "name", "about", "group"] });
  index.addAll(knownApps);
  const found = index.search(text, { prefix: true, fuzzy: 0.34, boost: { name: 2, slug: 2 } });
  return found.flatMap(({ id }) => knownApps.find(({ slug }) => slug === id) ?? []);
}
