import type { Hono } from "hono";
import { pairExchangeRequestSchema } from "../../../wire/registration.ts";
import { readDevice } from "../../registration/read-device.ts";
import { ServiceError } from "../../service-error.ts";
import type { RouteEnv } from "../guard.ts";
import { readCallerAddress } from "../read-caller-address.ts";
import { readJsonObject } from "../read-json.ts";
import type { ServiceParts } from "../service-parts.ts";

/** Bodies of these endpoints are tiny, and they need no key. */
const BODY_LIMIT = 16 * 1024;

/** "Registration: pairing flow". None of these routes needs a key; approval happens on a page. */
export function addPairingRoutes(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.post("/api/plugin/pair/start", async (c) => {
    const device = readDevice(await readJsonObject(c.req.raw, BODY_LIMIT));
    return c.json(await parts.pairing.start(device, readCallerAddress(c.env)));
  });
  app.get("/api/plugin/pair/sessions/:token", async (c) => {
    const session = await parts.pairing.find(c.req.param("token"));
    if (session === undefined) {
      throw new ServiceError(404, "unknown_session", "This pairing session is unknown. Start pairing again.", {
        bare: true,
      });
    }
    const { status, displayCode, expiresAt } = session;
    return c.json({ status, displayCode, expiresAt });
  });
  app.post("/api/plugin/pair/sessions/:token/exchange", async (c) => {
    const body = pairExchangeRequestSchema.safeParse(await readJsonObject(c.req.raw, BODY_LIMIT));
    if (!body.success) {
      throw new ServiceError(400, "verifier_missing", "`verifier` is required: the string that pair start returned.", {
        bare: true,
      });
    }
    return c.json(await parts.pairing.exchange(c.req.param("token"), body.data.verifier));
  });
}
