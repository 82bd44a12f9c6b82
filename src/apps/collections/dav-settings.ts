import { z } from "zod";
import { type AllowedHosts, isOwnHost } from "../../service/fetch/address-rules.ts";
import { refuseSetting } from "../../service/service-error.ts";
import type { SettingField } from "../port/integration.ts";

/** Settings of collections on a server. */
export interface DavSettings {
  /** Where they are looked for: the address of the server, or of an account on it. */
  readonly url: URL;
  readonly user: string;
  readonly password: string;
  /** True for an address of the owner's own network, which may be reached, and without encryption. */
  readonly isPrivate: boolean;
}

/** Fields of the connect form: the address of the account, a folder, or else a server. */
export function createStoreFields(o: {
  readonly folder: SettingField;
  readonly server: string;
  /** What the address is for beside finding the server; a sentence. */
  readonly address?: string;
}): SettingField[] {
  return [
    {
      name: "address",
      label: "Your mail address",
      kind: "email",
      optional: true,
      help: ["The server is looked for by it.", ...(o.address === undefined ? [] : [o.address])].join(" "),
    },
    { name: "server", label: o.server, kind: "text", optional: true, help: "For example https://dav.example.org." },
    { name: "user", label: "User name", kind: "text", optional: true, help: "The mail address when it is empty." },
    {
      name: "password",
      label: "Password",
      kind: "secret",
      optional: true,
      help: "Many providers want an app password here, made in the settings of the account.",
    },
    { ...o.folder, optional: true, group: "A folder instead of a server" },
  ];
}

const schema = z.looseObject({
  server: z.string().trim().min(1),
  address: z.string().trim().default(""),
  user: z.string().trim().default(""),
  password: z.string().default(""),
});

/** True when the settings name a server instead of a folder. */
export function isOnDavServer(settings: Readonly<Record<string, unknown>>): boolean {
  return typeof settings.server === "string" && settings.server.trim() !== "";
}

/** Reads the settings, or throws ServiceError 422 `integration_misconfigured` naming the one that is wrong. */
export function readDavSettings(
  settings: Readonly<Record<string, unknown>>,
  allowed: AllowedHosts | undefined,
): DavSettings {
  const parsed = schema.safeParse(settings);
  if (!parsed.success)
    throw refuseSetting(String(parsed.error.issues[0]?.path[0] ?? "server"), "has a value that cannot be used.");
  const { server, address, password } = parsed.data;
  const user = parsed.data.user || address;
  if (user === "" || user.includes(":"))
    throw refuseSetting("user", "is needed, or else the mail address; without a colon.");
  if (password === "") throw refuseSetting("password", "is needed: the password of the account, or an app password.");
  return { ...readServer(server, allowed), user, password };
}

function readServer(text: string, allowed: AllowedHosts | undefined): { url: URL; isPrivate: boolean } {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`);
  const isPlain = url?.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (url === null || !isPlain || !/^https?:$/.test(url.protocol))
    throw refuseSetting("server", "must be the address of a server, for example https://dav.example.org.");
  const isPrivate = isOwnHost(url, allowed);
  if (url.protocol === "http:" && !isPrivate)
    throw refuseSetting(
      "server",
      `must begin with https://, unless it is on this machine or the service was started with --allow-host ${url.hostname}:${url.port || "80"}.`,
    );
  return { url, isPrivate };
}
