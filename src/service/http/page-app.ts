import type { MiddlewareHandler } from "hono";
import { createGuardedApp, type GuardedApp } from "./guarded-app.ts";
import { addOpenApiRoute } from "./openapi/build-document.ts";
import { addConnectPages } from "./pages/connect.ts";
import { addConnectionPages } from "./pages/connections.ts";
import { addDevicePages } from "./pages/devices.ts";
import { addFirstStepsForm } from "./pages/first-steps.ts";
import { addFlowPages } from "./pages/flows.ts";
import { addHomePage } from "./pages/home.ts";
import { addInboxPages } from "./pages/inbox.ts";
import { addKnownAppPages } from "./pages/known-apps.ts";
import { addLogPages } from "./pages/log.ts";
import { addPeoplePages } from "./pages/people.ts";
import { addRequestPages } from "./pages/requests.ts";
import { addReviewPages } from "./pages/review.ts";
import { addRulePages } from "./pages/rules.ts";
import { addSessionPages } from "./pages/sessions.ts";
import { addSignInPages } from "./pages/sign-in.ts";
import { addTriggerPages } from "./pages/triggers.ts";
import { addUndoPages } from "./pages/undo-pages.ts";
import type { RouteEnv } from "./request.ts";
import { addOAuthRoutes } from "./routes/oauth.ts";
import type { ServiceParts } from "./service-parts.ts";
import { readSessionPath, SESSION_PATH } from "./session-path.ts";

/** What people open in a browser, with OAuth, whose pages are among it, and the description of the service. */
export function createPageApp(parts: ServiceParts): GuardedApp {
  return createGuardedApp(parts, {
    add(app) {
      app.use(keepSessionPath);
      addOpenApiRoute(app, parts);
      addOAuthRoutes(app, parts);
      addPageRoutes(app, parts);
    },
  });
}

/** Redirects, which routes write as paths of the service, stay below the session path of the browser. */
const keepSessionPath: MiddlewareHandler<RouteEnv> = async (c, next) => {
  await next();
  const location = c.res.headers.get("location");
  if (location?.startsWith("/") && !SESSION_PATH.test(location))
    c.res.headers.set("location", `${readSessionPath(c.req.url)}${location}`);
};

/** Pages for the owner's browser. They look only at the session cookie: an API key means nothing here. */
function addPageRoutes(app: GuardedApp, parts: ServiceParts): void {
  addSignInPages(app, parts);
  addRequestPages(app, parts);
  addHomePage(app, parts);
  addFirstStepsForm(app, parts);
  addInboxPages(app, parts);
  addDevicePages(app, parts);
  addConnectionPages(app, parts);
  addKnownAppPages(app, parts);
  addConnectPages(app, parts);
  addReviewPages(app, parts);
  addRulePages(app, parts);
  addFlowPages(app, parts);
  addTriggerPages(app, parts);
  addLogPages(app, parts);
  addUndoPages(app, parts);
  addPeoplePages(app, parts);
  addSessionPages(app, parts);
}
