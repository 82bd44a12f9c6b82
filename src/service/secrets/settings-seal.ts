import { z } from "zod";
import type { SecretBox } from "./secret-box.ts";

type Settings = Readonly<Record<string, unknown>>;

/** The part of an integration that says which of its settings are secret. */
interface SecretFields {
  readonly settingsForm?: readonly { readonly name: string; readonly kind: string }[];
}

const sealedSchema = z.strictObject({ sealed: z.string() });

/** Encrypts and decrypts the secret fields of connection settings; everything else is stored as it is. */
export type SettingsSeal = ReturnType<typeof createSettingsSeal>;

/** Creates the seal; each integration's `settingsForm` names its secret fields. */
export function createSettingsSeal(
  box: SecretBox,
  catalog: { readonly integrations: readonly (SecretFields & { readonly slug: string })[] },
) {
  const listSecrets = (integration: string) =>
    catalog.integrations
      .find(({ slug }) => slug === integration)
      ?.settingsForm?.filter((field) => field.kind === "secret")
      .map((field) => field.name) ?? [];

  return {
    seal({ id, integration }: { id: string; integration: string }, settings: Settings): Settings {
      const sealed = { ...settings };
      for (const name of listSecrets(integration)) {
        if (typeof sealed[name] === "string") sealed[name] = { sealed: box.seal(sealed[name], `${id}.${name}`) };
      }
      return sealed;
    },

    /** `unreadable`: names of secrets that this key does not open; they are missing in `settings`. */
    open({ id }: { readonly id: string }, stored: Settings): { settings: Settings; unreadable: readonly string[] } {
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
