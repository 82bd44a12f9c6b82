import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join, sep } from "node:path";
import { hideInError } from "../../apps/port/hide-secrets.ts";
import type { Integration, SettingField } from "../../apps/port/integration.ts";
import { stopOnAbort } from "../../shared/base/concurrency.ts";
import { errorCode } from "../../shared/base/error-code.ts";
import { cleanText } from "../../shared/base/text.ts";
import { ServiceError } from "../service-error.ts";
import type { Connection, Connections } from "./connection.ts";
import { type ConnectionForm, type FormProblems, listScopes, readSettings } from "./connection-form.ts";
import { type AccessTokens, type LiveSettings, SIGN_IN_SETTING } from "./sign-in/access-tokens.ts";

/** Result of a form: a healthy connection, or the problems by field. */
type ConnectResult =
  | { readonly ok: true; readonly connection: Connection }
  | { readonly ok: false; readonly problems: FormProblems };

/** Longest name of a connection, in characters. */
const MAX_LABEL = 60;

/** How long an app may check and try new settings, in milliseconds. */
const TEST_MS = 10_000;

/** Connects apps for their owner: unlike {@link Connections} it stores only settings that work. */
export interface Connector {
  /**
   * The first connection of an app becomes its default, and so does any connection whose form asks for it.
   *
   * @param signInId the sign-in at its provider
   */
  connect(integration: Integration, form: ConnectionForm, signInId?: string): Promise<ConnectResult>;
  /** Makes a connection healthy again with new settings and scopes; its id stays. */
  reconnect(
    integration: Integration,
    connection: Connection,
    form: ConnectionForm,
    signInId?: string,
  ): Promise<ConnectResult>;
  /** True for a connection that the service made by itself at its first start, with the settings it had then. */
  isFirstApp(connection: Connection): boolean;
  /** Removes a connection, and withdraws its sign-in at the provider. */
  disconnect(connection: Connection): Promise<void>;
}

/** Creates the connector. The service's own folders are never connected. */
export function createConnector(o: {
  connections: Connections;
  accessTokens: AccessTokens;
  ownFolders: readonly string[];
  /** True for a connection that the first start made. */
  isFirstApp: Connector["isFirstApp"];
}): Connector {
  const { connections, accessTokens, isFirstApp } = o;

  async function check(
    integration: Integration,
    form: ConnectionForm,
    { signInId, current }: { signInId: string | undefined; current?: Connection["settings"] },
  ) {
    const fields = integration.settingsForm ?? [];
    const { settings, problems } = readSettings(fields, form.values, current);
    if (signInId !== undefined) settings[SIGN_IN_SETTING] = signInId;
    else if (integration.findSignIn?.(settings) === undefined) delete settings[SIGN_IN_SETTING];
    for (const { name, kind } of fields) {
      const path = settings[name];
      if (kind !== "folder" || typeof path !== "string" || problems.has(name)) continue;
      for (const folder of o.ownFolders) {
        const problem = await checkFolder(path, folder);
        if (problem !== undefined) problems.set(name, problem);
      }
    }
    if (problems.size === 0) {
      const [name, problem] = (await findProblem(integration, settings, accessTokens)) ?? [];
      if (name !== undefined && problem !== undefined) problems.set(name, problem);
    }
    if (problems.size > 0 && signInId !== undefined) await forget(integration.slug, settings, true);
    return { settings, problems };
  }

  /** Forgets the sign-in of settings that no connection has any more, or yet. */
  async function forget(slug: string, settings: Connection["settings"], isReplaced: boolean): Promise<void> {
    const left = await connections.list(slug);
    const others = left.map((connection) => connection.settings);
    await accessTokens.forget(settings, others, { isReplaced });
  }

  return {
    async connect(integration, form, signInId) {
      const { settings, problems } = await check(integration, form, { signInId });
      if (problems.size > 0) return { ok: false, problems };
      const isFirst = (await connections.list(integration.slug)).length === 0;
      const connection = await connections.add({
        integration: integration.slug,
        label: readLabel(form, integration.name),
        settings,
        scopes: listScopes(integration, form.access),
        isDefault: isFirst || form.isDefault === true,
      });
      return { ok: true, connection };
    },

    async reconnect(integration, { id, label, settings: current }, form, signInId) {
      const { settings, problems } = await check(integration, form, { signInId, current });
      if (problems.size > 0) return { ok: false, problems };
      const scopes = listScopes(integration, form.access);
      const change = { state: "healthy", scopes, settings, label: readLabel(form, label) } as const;
      const connection = await connections.update(id, change);
      await forget(integration.slug, current, true);
      return { ok: true, connection };
    },

    isFirstApp,

    async disconnect({ id, integration, settings }) {
      await connections.remove(id);
      await forget(integration, settings, false);
    },
  };
}

/** The name typed for a connection, cleaned; `fallback` when it is empty. */
export function readLabel({ label }: Pick<ConnectionForm, "label">, fallback: string): string {
  return cleanText(label, MAX_LABEL) ?? fallback;
}

/** The integration's refusal of the settings, by field; undefined when they work. */
async function findProblem(
  integration: Integration,
  settings: Readonly<Record<string, unknown>>,
  accessTokens: AccessTokens,
): Promise<[field: string, problem: string] | undefined> {
  const limit = AbortSignal.timeout(TEST_MS);
  try {
    const check = async () => {
      await integration.checkSettings(settings);
      await trySettings(integration, await accessTokens.provide(integration, settings), limit);
    };
    await stopOnAbort(check(), limit);
    return undefined;
  } catch (error) {
    if (error === limit.reason) return ["", `${integration.name} gave no answer in time. Try again.`];
    const shown = hideInError(error, integration, settings);
    if (!(shown instanceof ServiceError)) throw error;
    return [...toProblems(integration, shown)][0];
  }
}

/** A refusal at the field it names, whose label stands beside it, or at the form as a whole; other fields by their labels. */
export function toProblems({ settingsForm = [] }: Integration, error: ServiceError): FormProblems {
  const field = findField(settingsForm, error);
  const begin = /^Setting "\w+" (does not work: )?/;
  const own = field && error.message.replace(begin, (_, isKnown?: string) => (isKnown === undefined ? "It " : ""));
  const message = (own ?? error.message).replaceAll(/(?:the s|S)etting "(\w+)"/g, (words, name: string) => {
    const other = settingsForm.find((one) => one.name === name);
    return other === undefined ? words : `“${other.label}”`;
  });
  return new Map([[field?.name ?? "", message]]);
}

/** A token from before may have been withdrawn: then another one decides. */
async function trySettings(integration: Integration, live: LiveSettings, limit: AbortSignal): Promise<void> {
  try {
    await integration.testSettings?.(live.settings, limit);
  } catch (error) {
    const renewed = limit.aborted ? undefined : await live.renew();
    if (renewed === undefined) throw error;
    await integration.testSettings?.(renewed, limit);
  }
}

function findField(fields: readonly SettingField[], { options }: ServiceError): SettingField | undefined {
  return fields.find((field) => field.name === options.extra?.setting);
}

/**
 * Why a folder cannot be connected, for the owner who typed its path; undefined when it can.
 *
 * A folder that holds the service's own data is refused: a tool that reads files would read the database and its key.
 */
async function checkFolder(path: string, dataDir: string): Promise<string | undefined> {
  if (!isAbsolute(path)) return "Give the whole path, beginning at the root of the disk.";
  let real: string;
  try {
    real = await realpath(path);
    if (!(await stat(real)).isDirectory()) return "This is not a folder.";
  } catch (error) {
    return explain(error);
  }
  const own = await realpath(dataDir);
  const blobs = join(own, "blobs");
  if (isInside(own, real) || isInside(real, blobs))
    return "The service keeps its own data there. Choose another folder.";
  return undefined;
}

/** True when `path` is `folder` or lies below it. */
function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function explain(error: unknown): string {
  const code = errorCode(error);
  if (code === "ENOENT") return "There is no such folder on the machine that runs the service. Create it first.";
  if (code === "ENOTDIR") return "This is not a folder.";
  if (code === "EACCES") return "The service may not look there. Give its user access first.";
  return "This path cannot be used.";
}
