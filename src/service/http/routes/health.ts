import type { Hono } from "hono";
import { z } from "zod";
import { makeOnce } from "../../../shared/base/concurrency.ts";
import { readVersion } from "../../../shared/base/version.ts";
import type { Problem } from "../../health/health.ts";
import type { Operation } from "../openapi/operation.ts";
import { shapes } from "../openapi/shapes.ts";
import type { RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { sendJson } from "../whole-answer.ts";

/** Seconds after which a caller may look again. */
const RETRY_AFTER_SECONDS = 2;

/** OpenAPI description of these endpoints. */
export const healthOperations: readonly Operation[] = [
  {
    method: "get",
    path: "/health",
    summary: "Tells whether the service can work.",
    tag: "Service",
    access: "anybody",
    answers: {
      200: { description: "It can", body: z.looseObject({ ok: z.literal(true), version: z.string().optional() }) },
      503: { description: "It cannot, or not fully; what is wrong, the worst first", body: shapes.Health },
    },
  },
];

/** `GET /health`, without a key: 200 while the service can work, 503 with its problems while it cannot. */
export function addHealthRoute(app: Hono<RouteEnv>, parts: ServiceParts): void {
  // Unknown where a program of its owner has bundled the service: no reason to be ill.
  const getVersion = makeOnce(() => readVersion().catch(() => undefined));
  app.get("/health", async () => {
    const version = await getVersion();
    const problems = await listProblems(parts);
    const [first] = problems;
    if (first === undefined) return sendJson({ ok: true, version });
    const later = { "retry-after": String(RETRY_AFTER_SECONDS) };
    return sendJson({ ok: false, version, error: first.message, problems }, 503, later);
  });
}

/** Current problems of the service, the worst first. */
export async function listProblems({ node, watch }: Pick<ServiceParts, "node" | "watch">): Promise<Problem[]> {
  const message = "The database of this service cannot be reached at the moment.";
  const unreachable: Problem[] = node.isReachable() ? [] : [{ code: "database_unavailable", message }];
  return [...unreachable, ...(await watch.listProblems())];
}
