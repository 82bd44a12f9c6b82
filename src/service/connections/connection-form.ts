import type { SettingField } from "../integrations/integration.ts";
import type { Access } from "./scopes.ts";

/** What the owner typed to connect or reconnect an app. */
export interface ConnectionForm {
  /** What he calls the connection; the name of the app when empty. */
  readonly label: string;
  readonly access: Access;
  /** True when calls that name no account use this one from now on. The first connection of an app is used anyway. */
  readonly isDefault?: boolean | undefined;
  /** Text of each setting by name. */
  readonly values: Readonly<Record<string, string>>;
}

/** What is wrong with a form: texts by setting name; `""` stands for the form as a whole. */
export type FormProblems = ReadonlyMap<string, string>;

/** Longest text of one setting, in characters: access tokens and certificates are long. */
const MAX_TEXT = 8000;

/**
 * Turns what was typed into settings. A secret that is left empty keeps the one in `current`; settings that no field
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
    if (text.length > MAX_TEXT) problems.set(name, `This is longer than ${MAX_TEXT} characters.`);
    else if (kind === "choice" && text !== "" && !options?.some(({ value }) => value === text)) {
      problems.set(name, "Choose one of those that are offered.");
    } else if (text !== "") settings[name] = text;
    else if (!optional) problems.set(name, "This is needed.");
  }
  return { settings, problems };
}
