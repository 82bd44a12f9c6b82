import type { Integration } from "../integrations/integration.ts";

type Settings = Readonly<Record<string, unknown>>;

/**
 * The settings of a connection that nobody may be shown: those that the form of its app calls secret, and an access token
 * that is not among the `stored` settings.
 */
export function pickSecretSettings(
  { settingsForm = [] }: Pick<Integration, "settingsForm">,
  settings: Settings,
  stored: Settings = settings,
): Record<string, unknown> {
  const names = new Set(settingsForm.filter(({ kind }) => kind === "secret").map(({ name }) => name));
  const isSecret = ([name, value]: [string, unknown]) => names.has(name) || stored[name] !== value;
  return Object.fromEntries(Object.entries(settings).filter(isSecret));
}
