import type { Hono } from "hono";
import type { RouteEnv } from "../guard.ts";
import type { ServiceParts } from "../service-parts.ts";
import { addConnectPages } from "./pages-connect.ts";
import { addConnectionPages } from "./pages-connections.ts";
import { addDevicePages } from "./pages-devices.ts";
import { addFlowPages } from "./pages-flows.ts";
import { addHomePage } from "./pages-home.ts";
import { addInstallPages } from "./pages-install.ts";
import { addLogPages } from "./pages-log.ts";
import { addPairingPages } from "./pages-pairing.ts";
import { addReviewPages } from "./pages-review.ts";
import { addSignInPages } from "./pages-sign-in.ts";
import { addSignedInPage } from "./pages-signed-in.ts";

/** Pages for the owner's browser. They look only at the session cookie: an API key means nothing here. */
export function addPageRoutes(app: Hono<RouteEnv>, parts: ServiceParts): void {
  addSignInPages(app, parts);
  addPairingPages(app, parts);
  addInstallPages(app, parts);
  addHomePage(app, parts);
  addDevicePages(app, parts);
  addConnectionPages(app, parts);
  addConnectPages(app, parts);
  addSignedInPage(app, parts);
  addReviewPages(app, parts);
  addFlowPages(app, parts);
  addLogPages(app, parts);
}
