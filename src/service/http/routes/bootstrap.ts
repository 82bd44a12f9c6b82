import type { Hono } from "hono";
import { readInstaller } from "../../registration/read-installer.ts";
import { ServiceError } from "../../service-error.ts";
import type { RouteEnv } from "../guard.ts";
import { readCallerAddress } from "../read-caller-address.ts";
import { readJsonObject } from "../read-json.ts";
import { renderBare } from "../render-error.ts";
import type { ServiceParts } from "../service-parts.ts";

/** Bodies of this endpoint are tiny, and it needs no key. */
const BODY_LIMIT = 16 * 1024;

/** "Registration: installer bootstrap flow". Neither route needs a key; approval happens on a page. */
export function addBootstrapRoutes(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.post("/api/installer/bootstrap-sessions", async (c) => {
    const installer = readInstaller(await readJsonObject(c.req.raw, BODY_LIMIT));
    return c.json(await parts.bootstrap.start(installer, readCallerAddress(c.env)));
  });
  app.get("/api/installer/bootstrap-sessions/:token", async (c) => {
    // A HEAD request is answered by the GET handler, and must not spend the configuration that it cannot receive.
    if (c.req.method === "HEAD") {
      const refusal = renderBare(new ServiceError(405, "method_not_allowed", "This address takes only: GET."));
      refusal.headers.set("allow", "GET");
      return refusal;
    }
    return c.json(await parts.bootstrap.poll(c.req.param("token")));
  });
}
