import type { Hono } from "hono";
import { hashSecret, isSameHash } from "../../auth/secrets.ts";
import { refuseBare } from "../../service-error.ts";
import { bare, type Operation } from "../openapi/operation.ts";
import type { RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** OpenAPI description of this endpoint. */
export const metricsOperations: readonly Operation[] = [
  {
    method: "get",
    path: "/metrics",
    summary: "Metrics of this process for Prometheus, with the token of its configuration.",
    tag: "Service",
    access: "anybody",
    answers: {
      200: { description: "The metrics", body: "binary", contentType: "text/plain" },
      401: bare("Another token, or none"),
      404: bare("No token is configured"),
    },
  },
];

/** `GET /metrics`: there where a token is configured, and for those who have it. */
export function addMetricsRoute(app: Hono<RouteEnv>, { metrics, metricsToken }: ServiceParts): void {
  app.get("/metrics", async (c) => {
    if (metrics === undefined || metricsToken === undefined) return c.notFound();
    const [, sent = ""] = /^Bearer (\S+)$/i.exec(c.req.header("authorization") ?? "") ?? [];
    if (!isSameHash(hashSecret(sent), hashSecret(metricsToken))) {
      throw refuseBare(401, "unauthorized", "Metrics need the token of the configuration (SVC_METRICS_TOKEN).");
    }
    return c.body(await metrics.render(), 200, { "content-type": CONTENT_TYPE, "cache-control": "no-store" });
  });
}
