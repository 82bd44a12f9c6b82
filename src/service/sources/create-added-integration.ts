import type { ActionContext, Integration, OAuthGrant, OAuthSignIn } from "../integrations/integration.ts";
import { ServiceError } from "../service-error.ts";
import { findMissingSetting } from "./find-missing-setting.ts";
import type { IntegrationSource } from "./source.ts";
import type { StoredAction } from "./source-content.ts";

/** What a kind brings to the actions it stored. */
interface AddedBehaviour {
  /** Carries out one action. Arguments are already valid. Throws ServiceError for failures it can name. */
  run(action: StoredAction, args: Readonly<Record<string, unknown>>, context: ActionContext): Promise<unknown>;
  /** See `Integration.testSettings`. */
  test?(settings: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<void>;
  /** See `Integration.findGrant`; also asked to check settings. */
  findGrant?(settings: Readonly<Record<string, unknown>>): OAuthGrant | undefined;
  /** See `Integration.findSignIn`. */
  findSignIn?(settings: Readonly<Record<string, unknown>>): OAuthSignIn | undefined;
}

/** The integration of an added app. */
export function createAddedIntegration(
  { slug, name, content }: Pick<IntegrationSource, "slug" | "name" | "content">,
  { run, test, findGrant, findSignIn }: AddedBehaviour,
): Integration {
  const { description, category, scopes, settingsHelp } = content;
  return {
    slug,
    name,
    description,
    category,
    scopes,
    actions: content.actions.map((action) => ({
      ...action,
      run: (args, context) => run(action, args, context),
    })),
    settingsForm: content.settingsForm.map(({ optional, help, options, ...field }) => ({
      ...field,
      ...(options === undefined ? {} : { options }),
      ...(optional === undefined ? {} : { optional }),
      ...(help === undefined ? {} : { help }),
    })),
    ...(settingsHelp !== undefined && { settingsHelp }),
    async checkSettings(settings) {
      const missing = findMissingSetting(content, settings);
      if (missing === undefined) return void findGrant?.(settings);
      throw new ServiceError(422, "integration_misconfigured", `${name} needs a value for ${missing.label}.`, {
        type: "configuration",
        hint: "The owner gives it in the dashboard: Connections, Reconnect.",
        extra: { setting: missing.name },
      });
    },
    ...(test !== undefined && { testSettings: test }),
    ...(findGrant !== undefined && { findGrant }),
    ...(findSignIn !== undefined && { findSignIn }),
  };
}
