import type { Hono } from "hono";
import { z } from "zod";
import { IDENTITY_PATH, identityRequestSchema, proveIdentity } from "../../../shared/wire/identity.ts";
import type { KeyScopes } from "../../../shared/wire/key-scopes.ts";
import { pairExchangeRequestSchema, pairStartRequestSchema } from "../../../shared/wire/registration.ts";
import { readKeyScopes } from "../../access/key-scopes.ts";
import { refuseBare, ServiceError } from "../../service-error.ts";
import { readCallerAddress } from "../caller-address.ts";
import { limitNewcomers } from "../newcomer-limit.ts";
import { bare, type Operation, RETRY_AFTER, segment } from "../openapi/operation.ts";
import { shapes } from "../openapi/shapes.ts";
import { renderBare } from "../render-outcome.ts";
import { KEYLESS_BODY, type RouteEnv, readJsonObject } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { sendJson } from "../whole-answer.ts";

const REGISTRATION = { tag: "Registration", access: "anybody" } as const;
const TOKEN = segment("token", "The sessionToken of pair start.");
const TOO_LARGE = bare("The body is larger than 16 kB");
const TOO_MANY = { ...bare("More than 20 a second from this address, after the first 1,000"), headers: RETRY_AFTER };

/** OpenAPI description of these endpoints. */
export const pairingOperations: readonly Operation[] = [
  {
    ...REGISTRATION,
    method: "post",
    path: "/api/plugin/pair/start",
    summary: "Starts a pairing session.",
    request: { required: false, content: { "application/json": pairStartRequestSchema } },
    answers: {
      200: { description: "What the human opens, and what the device keeps", body: shapes.PairStarted },
      413: TOO_LARGE,
      429: TOO_MANY,
    },
  },
  {
    ...REGISTRATION,
    method: "get",
    path: "/api/plugin/pair/sessions/{token}",
    summary: "Reads where a pairing session stands.",
    parameters: [TOKEN],
    answers: { 200: { description: "Its status", body: shapes.PairStatus }, 404: bare("No such session") },
  },
  {
    ...REGISTRATION,
    method: "post",
    path: "/api/plugin/pair/sessions/{token}/exchange",
    summary: "Exchanges an approved session for its key, once.",
    parameters: [TOKEN],
    request: { required: true, content: { "application/json": pairExchangeRequestSchema } },
    answers: {
      200: { description: "The key, shown only this once", body: shapes.PairExchanged },
      400: bare("The verifier is missing or wrong"),
      404: bare("No such session"),
      409: bare("Not approved yet, denied, or already exchanged"),
      410: bare("Expired"),
      413: TOO_LARGE,
    },
  },
  {
    ...REGISTRATION,
    method: "post",
    path: IDENTITY_PATH,
    summary: "Proves that the service knows a key, to a device that looks for it at a new address.",
    request: { required: true, content: { "application/json": identityRequestSchema } },
    answers: {
      200: { description: "The proof, for the address under which the service is known", body: shapes.Identity },
      404: bare("No such live key"),
      413: TOO_LARGE,
    },
  },
];

/** "Registration: pairing flow". None of these routes needs a key; approval happens on a page. */
export function addPairingRoutes(app: Hono<RouteEnv>, parts: ServiceParts): void {
  addIdentityRoute(app, parts);
  app.post("/api/plugin/pair/start", limitNewcomers("session", parts), async (c) => {
    const body = await readJsonObject(c.env, KEYLESS_BODY);
    return sendJson(await parts.pairing.start(body, readAskedScopes(body)));
  });
  app.get("/api/plugin/pair/sessions/:token", async (c) => {
    const session = await parts.pairing.find(c.req.param("token"));
    const unknown = "This pairing session is unknown. Start pairing again.";
    if (session === undefined) throw refuseBare(404, "unknown_session", unknown);
    const { status, display_code: displayCode, expires_at: expiresAt, scopes } = session;
    return sendJson({ status, displayCode, expiresAt, scopes });
  });
  app.post("/api/plugin/pair/sessions/:token/exchange", async (c) => {
    const body = pairExchangeRequestSchema.safeParse(await readJsonObject(c.env, KEYLESS_BODY));
    const missing = "`verifier` is required: the string that pair start returned.";
    if (!body.success) throw refuseBare(400, "verifier_missing", missing);
    return sendJson(await parts.pairing.exchange(c.req.param("token"), body.data.verifier));
  });
}

/** A device asks whether its service is here, before it sends the key. */
function addIdentityRoute(app: Hono<RouteEnv>, { keys, baseUrl }: ServiceParts): void {
  app.post(IDENTITY_PATH, async (c) => {
    const body = identityRequestSchema.safeParse(await readJsonObject(c.env, KEYLESS_BODY));
    const wrong = "`apiKeyId` and `challenge`, 32 random bytes in base64url, are required.";
    if (!body.success) throw refuseBare(400, "invalid_body", wrong);
    const { apiKeyId, challenge } = body.data;
    const hash = await keys.findHash(apiKeyId);
    if (hash === undefined) throw refuseBare(404, "unknown_key", "This service knows no such key.");
    return sendJson({ baseUrl, proof: proveIdentity(hash, { challenge, baseUrl }) });
  });
}

/** The limits that were asked for. Their names are not looked up: a stranger would learn what there is. */
function readAskedScopes({ scopes: sent }: Record<string, unknown>): KeyScopes | undefined {
  if (sent == null) return undefined;
  const scopes = readKeyScopes(sent);
  if (typeof scopes === "string") throw refuseBare(400, "invalid_scopes", scopes);
  return scopes;
}

/** OpenAPI description of these endpoints. */
export const bootstrapOperations: readonly Operation[] = [
  {
    ...REGISTRATION,
    method: "post",
    path: "/api/installer/bootstrap-sessions",
    summary: "Starts an installer session.",
    request: { required: false, content: { "application/json": z.looseObject({}) } },
    answers: {
      200: { description: "What the human opens, and where to poll", body: shapes.BootstrapStarted },
      413: TOO_LARGE,
      429: TOO_MANY,
    },
  },
  {
    ...REGISTRATION,
    method: "get",
    path: "/api/installer/bootstrap-sessions/{token}",
    summary: "Polls an installer session; the configuration is handed out once after approval.",
    parameters: [segment("token", "The end of poll_url.")],
    answers: { 200: { description: "Its status", body: shapes.BootstrapPolled }, 404: bare("No such session") },
  },
];

/** "Registration: installer bootstrap flow". Neither route needs a key; approval happens on a page. */
export function addBootstrapRoutes(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.post("/api/installer/bootstrap-sessions", limitNewcomers("session", parts), async (c) => {
    const body = await readJsonObject(c.env, KEYLESS_BODY);
    const asked = { address: readCallerAddress(c.env.incoming, parts.trustedProxies), scopes: readAskedScopes(body) };
    return sendJson(await parts.bootstrap.start(body, asked));
  });
  app.get("/api/installer/bootstrap-sessions/:token", async (c) => {
    // A HEAD request is answered by the GET handler, and must not spend the configuration that it cannot receive.
    if (c.req.method === "HEAD") {
      const refusal = renderBare(new ServiceError(405, "method_not_allowed", "This address takes only: GET."));
      refusal.headers.set("allow", "GET");
      return refusal;
    }
    return sendJson(await parts.bootstrap.poll(c.req.param("token")));
  });
}
