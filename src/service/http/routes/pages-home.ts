import type { Hono } from "hono";
import type { Connection } from "../../connections/connections.ts";
import { ServiceError } from "../../service-error.ts";
import type { RouteEnv } from "../guard.ts";
import { nameApp, nameExecutions } from "../names.ts";
import { askToSignIn, findOwner, isReturnPage, readOwnForm } from "../owner-browser.ts";
import { describeStepError, findCurrentStep } from "../pages/flow-page.ts";
import { type Errand, homeBody } from "../pages/home-page.ts";
import { sendPage } from "../pages/page.ts";
import { findNotice } from "../read-query.ts";
import type { ServiceParts } from "../service-parts.ts";
import { readSessionPath, SESSION_PATH } from "../session-path.ts";
import { listProblems } from "./health.ts";
import { SIGNED_IN_PATH } from "./pages-signed-in.ts";

const NOTICES: Readonly<Record<string, string>> = {
  link: "This link leads to no page of this service where something is decided. Copy the whole link.",
};

/** Executions shown on the home page. */
const RECENT = 5;

/** The page a sign-in leads to. */
export function addHomePage(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.get("/", async (c) => {
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const { accountId, csrfToken } = owner;
    const connections = await parts.connections.list();
    const { items } = await parts.activity.list(accountId, {}, { size: RECENT });
    const body = homeBody({
      problems: await listProblems(parts),
      errands: await listErrands(parts, accountId, connections),
      devices: await parts.keys.list(accountId),
      connections: connections.map((connection) => ({ connection, app: nameApp(parts, connection.integration) })),
      recent: await nameExecutions(parts, items),
      now: parts.now(),
      notice: findNotice(NOTICES, c.req.query("notice")),
      csrfToken: readSessionPath(c.req.url) === "" ? undefined : csrfToken,
    });
    return sendPage(c, { title: "Home", body, csrfToken, section: "home" });
  });
  app.post("/open-link", async (c) => {
    const { form } = await readOwnForm(c, parts);
    return c.redirect(findPage(parts, form.get("link") ?? "") ?? "/?notice=link", 303);
  });
}

/** The page of this service that a link leads to, where it is one that people are sent to. */
function findPage({ allowedHosts, baseUrl }: ServiceParts, link: string): string | undefined {
  const url = URL.parse(link.trim(), baseUrl);
  if (url === null || !(allowedHosts.has(url.host) || url.origin === baseUrl)) return undefined;
  const path = url.pathname.replace(SESSION_PATH, "");
  if (path === SIGNED_IN_PATH) return `${path}${url.search}`;
  return isReturnPage(path) ? path : undefined;
}

/** Most flows that wait for an approval, and recent ones among which failed ones are looked for. */
const MAX_FLOWS = 30;

/** Tasks of the owner: approvals of flows first, then connections, then failed flows. */
export async function listErrands(
  parts: ServiceParts,
  accountId: string,
  connections: readonly Connection[],
): Promise<Errand[]> {
  const { approvals, failures } = await listFlowErrands(parts, accountId);
  return [...approvals, ...connections.flatMap((connection) => describeConnection(parts, connection)), ...failures];
}

async function listFlowErrands({ flows }: ServiceParts, accountId: string) {
  const approvals: Errand[] = [];
  const failures: Errand[] = [];
  const failed = (await flows.list(accountId, MAX_FLOWS)).filter(({ status }) => status === "failed");
  for (const { id, name, status } of [...(await flows.listWaiting(accountId, MAX_FLOWS)), ...failed]) {
    const view = await flows.get(accountId, id).catch(skipMissing);
    if (view === undefined) continue;
    const step = findCurrentStep(view);
    const errand = { title: name ?? id, href: `/flows/${id}` };
    if (status === "failed") {
      failures.push({
        ...errand,
        isUrgent: false,
        text: (step && describeStepError(step)) ?? "It failed.",
        action: "Look at it",
      });
    } else if (step?.stepType === "approval") {
      approvals.push({ ...errand, isUrgent: true, text: "A flow waits for your approval.", action: "Review" });
    }
  }
  return { approvals, failures };
}

/** An old flow may be removed at any time. */
function skipMissing(error: unknown): undefined {
  if (!(error instanceof ServiceError) || error.status !== 404) throw error;
}

function describeConnection(parts: ServiceParts, { id, label, integration, state }: Connection): Errand[] {
  if (state === "healthy") return [];
  const app = nameApp(parts, integration);
  return [
    {
      title: `“${label}” must be reconnected`,
      text: state === "error" ? `${app} does not work at the moment.` : `${app} refused the access.`,
      href: `/connections/${id}/reconnect`,
      action: "Reconnect",
      isUrgent: false,
    },
  ];
}
