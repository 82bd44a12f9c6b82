import { z } from "zod";
import type { SecretFields } from "./hide-secrets.ts";
import type { SecretBox } from "./secret-box.ts";

/** The integrations installed at the moment. */
interface Installed {
  readonly integrations: readonly (SecretFields & { readonly slug: string })[];
}

type Settings = Readonly<Record<string, unknown>>;

/** How a secret setting is stored. */
const sealedSchema = z.strictObject({ sealed: z.string() });

/** The settings of a stored connection. */
interface OpenedSettings {
  readonly settings: Settings;
  /** Names of secrets that this key does not open; they are missing in `settings`. */
  readonly unreadable: readonly string[];
}

/** Encrypts and decrypts the secret fields of connection settings; everything else is stored as it is. */
export interface SettingsSeal {
  seal(connection: { readonly id: string; readonly integration: string }, settings: Settings): Settings;
  open(connection: { readonly id: string; readonly integration: string }, stored: Settings): OpenedSettings;
}

/** Creates the seal; which fields are secret is what each integration's `settingsForm` says. */
export function createSettingsSeal(box: SecretBox, catalog: Installed): SettingsSeal {
  const listSecrets = (integration: string) =>
    catalog.integrations
      .find(({ slug }) => slug === integration)
      ?.settingsForm?.filter((field) => field.kind === "secret")
      .map((field) => field.name) ?? [];

  return {
    seal({ id, integration }, settings) {
      const sealed = { ...settings };
      for (const name of listSecrets(integration)) {
        if (typeof sealed[name] === "string") sealed[name] = { sealed: box.seal(sealed[name], `${id}.${name}`) };
      }
      return sealed;
    },

    open({ id }, stored) {
      const settings: Record<string, unknown> = { ...stored };
      const unreadable: string[] = [];
      // Not only the fields that are secret today: what was sealed once must never reach an action unopened.
      for (const [name, value] of Object.entries(stored)) {
        const sealed = sealedSchema.safeParse(value);
        if (!sealed.success) continue;
        const opened = box.open(sealed.data.sealed, `${id}.${name}`);
        settings[name] = opened;
        if (opened === undefined) {
          delete settings[name];
          unreadable.push(name);
        }
      }
      return { settings, unreadable };
    },
  };
}
