import { z } from "zod";
import { type AllowedHosts, isOwnHost } from "../../../service/fetch/address-rules.ts";

import { refuseSetting } from "../../../service/service-error.ts";
import type { SettingField } from "../../port/integration.ts";
import { readNotionId } from "./notion-objects.ts";

/** Settings of a notes connection that is a workspace of Notion. */
export interface NotionSettings {
  readonly token: string;
  /** Without a slash at the end. */
  readonly origin: string;
  /** True for an address of the owner's own network, which may be reached, and without encryption. */
  readonly isPrivate: boolean;
  /** Id of the page or database in which paths begin; undefined: they begin at the pages shared with the token. */
  readonly parent: string | undefined;
}

const DEFAULT_URL = "https://api.notion.com";

/** Fields of the connect form. */
export const NOTION_FIELDS: readonly SettingField[] = [
  {
    name: "notionToken",
    label: "Token of a Notion connection",
    kind: "secret",
    optional: true,
    help: "Instead of a folder: pages of Notion. Made under Settings, Connections in Notion; it sees the pages that are shared with it.",
  },
  {
    name: "notionParent",
    label: "Page or database for new notes in Notion",
    kind: "text",
    optional: true,
    help: "Its address or id. New pages go there, and names of folders begin there.",
  },
  {
    name: "notionUrl",
    label: "Address of the Notion API",
    kind: "text",
    optional: true,
    help: `Only for a gateway of your own; ${DEFAULT_URL} without it.`,
  },
];

const schema = z.looseObject({
  notionToken: z
    .string()
    .trim()
    .regex(/^[!-~]+$/),
  notionParent: z.string().trim().optional(),
  notionUrl: z.string().trim().optional(),
});

/** True when the settings name Notion instead of a folder. */
export function isOnNotion(settings: Readonly<Record<string, unknown>>): boolean {
  return typeof settings.notionToken === "string" && settings.notionToken !== "";
}

/** Reads the settings, or throws ServiceError 422 `integration_misconfigured` naming the one that is wrong. */
export function readNotionSettings(
  settings: Readonly<Record<string, unknown>>,
  allowed: AllowedHosts | undefined,
): NotionSettings {
  const parsed = schema.safeParse(settings);
  if (!parsed.success)
    throw refuseSetting(String(parsed.error.issues[0]?.path[0] ?? "notionToken"), "has a value that cannot be used.");
  const { notionToken: token, notionParent = "", notionUrl = "" } = parsed.data;
  const parent = notionParent === "" ? undefined : readNotionId(notionParent);
  if (notionParent !== "" && parent === undefined)
    throw refuseSetting("notionParent", "must be the address or the id of a page or database of Notion.");
  return { token, parent, ...readAddress(notionUrl === "" ? DEFAULT_URL : notionUrl, allowed) };
}

function readAddress(text: string, allowed: AllowedHosts | undefined): { origin: string; isPrivate: boolean } {
  const url = URL.parse(text);
  const isPlain = url?.pathname === "/" && url.search === "" && url.hash === "" && url.username === "";
  if (url === null || !isPlain || !/^https?:$/.test(url.protocol))
    throw refuseSetting("notionUrl", `must be an address without a path, for example ${DEFAULT_URL}.`);
  const isPrivate = isOwnHost(url, allowed);
  if (url.protocol === "http:" && !isPrivate)
    throw refuseSetting(
      "notionUrl",
      `must begin with https://, unless it is on this machine or the service was started with --allow-host ${url.hostname}:${url.port || "80"}.`,
    );
  return { origin: url.origin, isPrivate };
}
