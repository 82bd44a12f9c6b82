import { ServiceError } from "../../service/service-error.ts";
import { judgeLevel } from "./action-levels.ts";
import type { Action, ActionContext, Integration } from "./integration.ts";
import { toPlainDescription } from "./plain-description.ts";
import { createProviderError } from "./provider-failure.ts";
import type { IntegrationSource, StoppedSource } from "./source.ts";
import { findMissingSetting, type StoredAction } from "./source-content.ts";

/** Carries out one action of a kind. Arguments are already valid. Throws ServiceError for failures it can name. */
type RunStored = (
  action: StoredAction,
  args: Readonly<Record<string, unknown>>,
  context: ActionContext,
) => Promise<unknown>;

/**
 * The integration of an added app.
 *
 * @param more.check throws for a problem of settings that are all there; see `Integration.checkSettings`
 * @param more.findPreview the preview of an action; undefined where it has none
 */
export function createAddedIntegration(
  { slug, name, levels, content }: Pick<IntegrationSource, "slug" | "name" | "levels" | "content">,
  run: RunStored,
  {
    check,
    findPreview,
  }: {
    readonly check?: (settings: Readonly<Record<string, unknown>>) => void;
    readonly findPreview?: (action: StoredAction) => Action["preview"];
  } = {},
): Integration {
  const { description, category, scopes, settingsHelp } = content;
  return {
    slug,
    name,
    description: toPlainDescription(description),
    category,
    scopes,
    actions: content.actions.map((action) => {
      const preview = findPreview?.(action);
      return {
        ...action,
        isLevelAssumed: !levels.trusted && judgeLevel(action, levels).from === "default",
        run: (args, context) => run(action, args, context),
        ...(preview && { preview }),
      };
    }),
    settingsForm: content.settingsForm,
    ...(settingsHelp !== undefined && { settingsHelp }),
    async checkSettings(settings) {
      const missing = findMissingSetting(content, settings);
      if (missing === undefined) return check?.(settings);
      throw new ServiceError(422, "integration_misconfigured", `${name} needs a value for ${missing.label}.`, {
        type: "configuration",
        hint: "The owner gives it in the dashboard: Connections, Reconnect.",
        extra: { setting: missing.name },
      });
    },
  };
}

/** An added app that cannot be used: people and agents are told why, and it offers nothing. */
export function createStoppedIntegration({ slug, name, stopped }: StoppedSource): Integration {
  return {
    slug,
    name,
    description: stopped,
    category: "other",
    scopes: [],
    actions: [],
    stopped,
    async checkSettings() {
      throw appStopped({ name, stopped });
    },
  };
}

/** The refusal of any call to an unusable app. */
export function appStopped({ name, stopped }: Pick<Integration, "name" | "stopped">): ServiceError {
  return new ServiceError(422, "integration_misconfigured", `${name} stopped working. ${stopped}`, {
    type: "configuration",
    hint: "Only the owner of the service can change this, on its machine.",
  });
}

/**
 * What a failure comes to that was met only after the app has said that it did what it was asked for, such as an answer that
 * is too long: of a write it must not sound as if nothing had been done.
 */
export function toDoneAlready(error: unknown, call: { readonly app: string; readonly action: StoredAction }): unknown {
  const { level, idempotent } = call.action;
  if (level === "read" || idempotent || !(error instanceof ServiceError)) return error;
  return error.code === "outcome_unknown"
    ? error
    : createProviderError({ kind: "garbage", message: error.message }, call);
}
