import type { Hono } from "hono";
import { z } from "zod";
import { bare, type Operation, RETRY_AFTER, segment } from "../openapi/operation.ts";
import { KEYLESS_BODY, type RouteEnv, readBytes } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { sendJson } from "../whole-answer.ts";

/** Largest webhook, in bytes. */
const LIMIT = 64 * 1024;

const header = (name: string, description: string) => ({ name, in: "header", description, required: true }) as const;

/** OpenAPI description of this endpoint. */
export const hookOperations: readonly Operation[] = [
  {
    method: "post",
    path: "/api/hooks/{id}",
    summary: "Takes a webhook for a trigger of the owner, signed as Standard Webhooks has it.",
    tag: "Flows",
    access: "anybody",
    parameters: [
      segment("id", "Id of a trigger."),
      header("webhook-id", "Names the event: the same one acts once."),
      header("webhook-timestamp", "Seconds since the epoch, within five minutes of now."),
      header("webhook-signature", "`v1,` and the signature in base64; several are separated by spaces."),
    ],
    request: { required: true, content: { "application/json": z.looseObject({}) } },
    answers: {
      202: {
        description: "It is written down, or was before",
        body: z.object({ ok: z.literal(true), duplicate: z.boolean() }),
      },
      401: bare("Unknown trigger, not signed with its secret, or too old"),
      413: bare("The body is larger than 64 kB"),
      429: { ...bare("More than 10 a second, or too many that wait"), headers: RETRY_AFTER },
      503: { ...bare("The owner has paused the trigger"), headers: RETRY_AFTER },
    },
  },
];

/** Webhooks for triggers: authenticated by their signature, never by an API key. */
export function addHookRoute(app: Hono<RouteEnv>, { triggers }: ServiceParts): void {
  app.post("/api/hooks/:id", async (c) => {
    const body = await readBytes(c.env, { ...KEYLESS_BODY, limit: LIMIT });
    const isNew = await triggers.receive({ id: c.req.param("id"), headers: c.req.raw.headers, body });
    return sendJson({ ok: true, duplicate: !isNew }, 202);
  });
}
