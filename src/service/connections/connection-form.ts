import type { Integration, SettingField } from "../../apps/port/integration.ts";
import type { Connection } from "./connection.ts";

/** The owner's input to connect or reconnect an app. */
export interface ConnectionForm {
  /** Their name for the connection; the name of the app when empty. */
  readonly label: string;
  readonly access: Access;
  /** True when calls that name no account use this one from now on. The first connection of an app is used anyway. */
  readonly isDefault?: boolean | undefined;
  /** Text of each setting by name. */
  readonly values: Readonly<Record<string, string>>;
}

/** Problems of a form: texts by setting name; `""` stands for the form as a whole. */
export type FormProblems = ReadonlyMap<string, string>;

/** Longest text of one setting, in characters: access tokens and certificates are long. */
export const MAX_SETTING = 8000;

/**
 * Turns form input into settings. A secret that is left empty keeps the one in `current`; settings that no field
 * names stay as they are.
 */
export function readSettings(
  fields: readonly SettingField[],
  values: ConnectionForm["values"],
  current: Readonly<Record<string, unknown>> = {},
): { settings: Record<string, unknown>; problems: Map<string, string> } {
  const settings: Record<string, unknown> = { ...current };
  const problems = new Map<string, string>();
  for (const { name, kind, optional, options } of fields) {
    const typed = values[name] ?? "";
    // A secret may begin or end with a space, nothing else may.
    const text = kind === "secret" ? typed : typed.trim();
    if (text === "" && kind === "secret" && typeof current[name] === "string") continue;
    delete settings[name];
    if (kind === "scopes") {
      const known = new Set(options?.map(({ value }) => value));
      if (values[name] !== undefined)
        settings[name] = typed
          .split(" ")
          .filter((scope) => known.has(scope))
          .join(" ");
    } else if (text.length > MAX_SETTING) problems.set(name, `This is longer than ${MAX_SETTING} characters.`);
    else if (kind === "choice" && text !== "" && !options?.some(({ value }) => value === text)) {
      problems.set(name, "Choose one of those that are offered.");
    } else if (text !== "") settings[name] = text;
    else if (!optional) problems.set(name, "This is needed.");
  }
  return { settings, problems };
}

/** How much a connection may do: only what reading actions need, or everything the integration offers. */
export type Access = "read" | "full";

/** Scopes that the reading actions of an integration need. */
function listReadScopes({ actions }: Integration): string[] {
  return [...new Set(actions.filter((action) => action.level === "read").flatMap((action) => action.scopes))];
}

/** False where reading alone is nothing, or all there is. */
export function offersReadOnly(integration: Integration): boolean {
  const read = new Set(listReadScopes(integration));
  return read.size > 0 && integration.scopes.some((scope) => !read.has(scope));
}

/** The scopes of an access. */
export function listScopes(integration: Integration, access: Access): readonly string[] {
  return access === "read" && offersReadOnly(integration) ? listReadScopes(integration) : integration.scopes;
}

/** A scope that was not granted and the actions that cannot run without it. */
export interface MissingScope {
  readonly scope: string;
  /** Titles of actions. */
  readonly neededBy: readonly string[];
}

/** Scopes that a connection was not granted, in the integration's order. */
export function listMissingScopes(integration: Integration, connection: Connection): MissingScope[] {
  return integration.scopes
    .filter((scope) => !connection.scopes.includes(scope))
    .map((scope) => ({
      scope,
      neededBy: integration.actions.filter((action) => action.scopes.includes(scope)).map((action) => action.title),
    }));
}

/** Address of the page on which the owner connects an app, or sees which of its connections needs help. */
export function connectUrl(baseUrl: string, integration: string): string {
  return `${baseUrl}/connect/${encodeURIComponent(integration)}`;
}

/** Address of the page on which the owner renews one connection or grants it more. */
export function reconnectUrl(baseUrl: string, connectionId: string): string {
  return `${baseUrl}/connections/${encodeURIComponent(connectionId)}/reconnect`;
}
