import { z } from "zod";
import { createWebhookSecret } from "../notify/standard-webhook.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import { jsonText } from "../store/open-store.ts";
import type { TriggerRow } from "../store/schema.ts";
import type { TriggerContent } from "./trigger.ts";

const secretsSchema = z.object({
  /** Signs the webhooks that arrive: `whsec_…`. */
  hook: z.string().optional(),
  /** Signs the webhooks that are sent: `whsec_…`. */
  out: z.string().optional(),
  /** Access token of the hooks of an OpenClaw gateway. */
  token: z.string().optional(),
});

/** Secrets of a trigger. */
export type TriggerSecrets = z.output<typeof secretsSchema>;

const placeOf = (id: string) => `trigger ${id}`;

/** The secrets that a new trigger needs: those that are made here, and the token that its owner typed. */
export function makeSecrets({ on, act }: TriggerContent, token: string): TriggerSecrets {
  return {
    ...(on.kind === "webhook" && { hook: createWebhookSecret() }),
    ...(act.does === "post" && { out: createWebhookSecret() }),
    ...(act.does === "wake" && { token }),
  };
}

/** Null for a trigger without secrets. */
export function sealSecrets(box: SecretBox, id: string, secrets: TriggerSecrets): string | null {
  return Object.keys(secrets).length === 0 ? null : box.seal(JSON.stringify(secrets), placeOf(id));
}

/** Nothing where they cannot be read: the key that they were encrypted with is lost. */
export function openSecrets(box: SecretBox, { id, secrets }: Pick<TriggerRow, "id" | "secrets">): TriggerSecrets {
  const opened = secrets === null ? undefined : box.open(secrets, placeOf(id));
  return opened === undefined ? {} : jsonText.pipe(secretsSchema).parse(opened);
}
