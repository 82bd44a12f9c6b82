import type { HttpBindings } from "@hono/node-server";
import type { MiddlewareHandler } from "hono";
import type { Principal } from "../auth/api-keys.ts";
import { ServiceError } from "../service-error.ts";
import type { ServiceParts } from "./service-parts.ts";

/** The context of handlers. */
export interface RouteEnv {
  Bindings: HttpBindings;
  Variables: { principal: Principal };
}

/**
 * Answers only requests addressed to this service by name. A web page whose own name was re-pointed at this
 * machine (DNS rebinding) arrives with a foreign `Host`.
 */
export function guardHost(parts: ServiceParts): MiddlewareHandler<RouteEnv> {
  return async (c, next) => {
    const host = c.req.header("host")?.toLowerCase();
    if (host === undefined || !parts.allowedHosts.has(host)) {
      throw new ServiceError(400, "wrong_host", `This service answers only under ${parts.baseUrl}.`, { bare: true });
    }
    await next();
  };
}

/** Refuses state-changing requests that a browser sends on behalf of another site. */
export function guardOrigin(parts: ServiceParts): MiddlewareHandler<RouteEnv> {
  return async (c, next) => {
    if (c.req.method !== "GET" && c.req.method !== "HEAD" && isForeignOrigin(c.req.raw.headers, parts)) {
      throw new ServiceError(403, "foreign_origin", "Requests from other web sites are refused.", { bare: true });
    }
    await next();
  };
}

function isForeignOrigin(headers: Headers, parts: ServiceParts): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return true;
  const origin = headers.get("origin");
  if (origin === null) return false;
  return !URL.canParse(origin) || !parts.allowedHosts.has(new URL(origin).host);
}

/** Lets only requests with a live key through; the refusal is a bare error ("Authentication" 5). */
export function requireKey(parts: ServiceParts): MiddlewareHandler<RouteEnv> {
  return async (c, next) => {
    const principal = await parts.keys.authenticate(c.req.raw.headers);
    if (principal === undefined) throw unauthorized({ bare: true });
    c.set("principal", principal);
    await next();
  };
}

/** The refusal of a request without a live key. */
export function unauthorized({ bare }: { bare: boolean }): ServiceError {
  return new ServiceError(401, "unauthorized", "The API key is missing, invalid or revoked.", {
    type: "auth",
    bare,
    hint: "Send a live key in the x-svc-api-key header; pair this device again if it was revoked.",
  });
}
