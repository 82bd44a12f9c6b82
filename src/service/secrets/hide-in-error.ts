import type { Integration } from "../integrations/integration.ts";
import { ServiceError } from "../service-error.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { pickSecretSettings } from "./pick-secret-settings.ts";
import { hideForms, listSecretForms } from "./secret-forms.ts";

type Settings = Readonly<Record<string, unknown>>;

/**
 * The same error without the secrets of the connection: a system may repeat a password in the words with which it refuses
 * it, and those words reach agents and the log.
 *
 * @param settings as they were used; an access token that is not among the `stored` ones is a secret too.
 */
export function hideInError(
  error: unknown,
  integration: Pick<Integration, "settingsForm">,
  settings: Settings,
  stored: Settings = settings,
): unknown {
  if (!(error instanceof ServiceError)) return error;
  const secrets = pickSecretSettings(integration, settings, stored);
  const forms = listSecretForms(secrets);
  const clean = (text: string) => hideForms(hideSecrets(text, secrets), forms);
  const { hint, details } = error.options;
  return new ServiceError(error.status, error.code, clean(error.message), {
    ...error.options,
    ...(hint !== undefined && { hint: clean(hint) }),
    ...(details !== undefined && { details: details.map(clean) }),
  });
}
