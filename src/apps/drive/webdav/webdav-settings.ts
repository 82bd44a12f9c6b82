import { z } from "zod";
import { type AllowedHosts, isOwnHost } from "../../../service/fetch/address-rules.ts";
import { refuseSetting } from "../../../service/service-error.ts";
import type { SettingField } from "../../port/integration.ts";

const GROUP = "A WebDAV server instead, such as Nextcloud";

/** Fields of the connect form. */
export const WEBDAV_FIELDS: readonly SettingField[] = [
  {
    name: "webdavUrl",
    label: "Address of the folder",
    kind: "text",
    optional: true,
    group: GROUP,
    help: "Of Nextcloud: https://cloud.example.org/remote.php/dav/files/USER/, with your user name at the end. Tools see this folder and everything below it.",
  },
  { name: "webdavUser", label: "User name", kind: "text", optional: true, group: GROUP },
  {
    name: "webdavPassword",
    label: "Password",
    kind: "secret",
    optional: true,
    group: GROUP,
    help: "Better an app password; Nextcloud makes one under Settings, Security.",
  },
];

/** Settings of a drive on a WebDAV server. */
export interface WebdavSettings {
  /** Of a folder, with a slash at the end; without user, query and fragment. */
  readonly url: URL;
  readonly user: string;
  readonly password: string;
  /** True for a server of the owner's own network, which may be reached, and without encryption. */
  readonly isPrivate: boolean;
}

const schema = z.looseObject({
  webdavUrl: z.string().trim(),
  webdavUser: z
    .string()
    .trim()
    .regex(/^[^:\p{Cc}]*$/u)
    .default(""),
  webdavPassword: z
    .string()
    .regex(/^\P{Cc}*$/u)
    .default(""),
});

/** True when the settings name a WebDAV server. */
export function isOnWebdav(settings: Readonly<Record<string, unknown>>): boolean {
  return typeof settings.webdavUrl === "string" && settings.webdavUrl !== "";
}

/** Reads the settings, or throws ServiceError 422 `integration_misconfigured` naming the one that is wrong. */
export function readWebdavSettings(
  settings: Readonly<Record<string, unknown>>,
  allowed: AllowedHosts | undefined,
): WebdavSettings {
  const parsed = schema.safeParse(settings);
  if (!parsed.success)
    throw refuseSetting(String(parsed.error.issues[0]?.path[0] ?? "webdavUrl"), "has a value that cannot be used.");
  const { webdavUrl, webdavUser: user, webdavPassword: password } = parsed.data;
  const url = URL.parse(webdavUrl);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "")
    throw refuseSetting("webdavUrl", "must be the address of a folder, such as https://dav.example.org/files/.");
  if (url.username !== "" || url.password !== "")
    throw refuseSetting("webdavUrl", "must not hold a user name or password: they have fields of their own.");
  if (user === "" && password !== "") throw refuseSetting("webdavUser", "is needed, as there is a password.");
  const isPrivate = isOwnHost(url, allowed);
  if (url.protocol === "http:" && !isPrivate)
    throw refuseSetting(
      "webdavUrl",
      `must begin with https://, unless it is on this machine or the service was started with --allow-host ${url.hostname}:${url.port || "80"}.`,
    );
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return { url, user, password, isPrivate };
}
