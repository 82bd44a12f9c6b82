import type { Context, Hono } from "hono";
import { FLOW_PAGE } from "../../../wire/constants.ts";
import { ServiceError } from "../../service-error.ts";
import type { RouteEnv } from "../guard.ts";
import { askToSignIn, findOwner, readOwnForm } from "../owner-browser.ts";
import { flowBody, flowsBody, unknownFlowBody } from "../pages/flow-page.ts";
import { sendPage } from "../pages/page.ts";
import { findNotice } from "../read-query.ts";
import type { ServiceParts } from "../service-parts.ts";

const NOTICES: Readonly<Record<string, string>> = {
  approved: "Approved. The flow goes on.",
  resumed: "Resumed. The flow goes on.",
  cancelled: "The flow is cancelled.",
  changed: "The flow had changed before you pressed the button. This is how it stands now.",
};

/** How the log of a flow names who approved it here. */
const APPROVER = "the owner, in the dashboard";

/** The list of flows, and the page of each with its decisions. */
export function addFlowPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { flows } = parts;
  app.get("/flows", async (c) => {
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const body = flowsBody({ flows: await flows.list(owner.accountId, FLOW_PAGE.max), now: parts.now() });
    return sendPage(c, { title: "Flows", body, csrfToken: owner.csrfToken, section: "flows" });
  });
  app.get("/flows/:id", async (c) => {
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const { accountId, csrfToken } = owner;
    return orUnknown(c, csrfToken, async () => {
      const view = await flows.get(accountId, c.req.param("id"));
      const notice = findNotice(NOTICES, c.req.query("notice"));
      const body = flowBody({ ...view, csrfToken, now: parts.now(), notice });
      return sendPage(c, { title: view.flow.name ?? "Flow", body, csrfToken, section: "flows" });
    });
  });
  app.post("/flows/:id/approve", async (c) => {
    const { owner, form } = await readOwnForm(c, parts);
    // The step that the page showed, so that an old page cannot approve a later step.
    const stepKey = form.get("step") ?? "";
    const id = c.req.param("id");
    const move = () => flows.approve(owner.accountId, id, { stepKey, by: APPROVER });
    return orUnknown(c, owner.csrfToken, () => answerMove(c, "approved", move));
  });
  app.post("/flows/:id/resume", async (c) => {
    const { owner, form } = await readOwnForm(c, parts);
    // The failure that the page showed: a later one may be of a write whose outcome is unknown.
    const attempt = form.get("attempt") ?? undefined;
    const move = () => flows.resume(owner.accountId, c.req.param("id"), { attempt });
    return orUnknown(c, owner.csrfToken, () => answerMove(c, "resumed", move));
  });
  app.post("/flows/:id/cancel", async (c) => {
    const { owner } = await readOwnForm(c, parts);
    const move = () => flows.cancel(owner.accountId, c.req.param("id"));
    return orUnknown(c, owner.csrfToken, () => answerMove(c, "cancelled", move));
  });
}

/** Leads back to the flow, also when somebody else was faster. */
async function answerMove(
  c: Context<RouteEnv, "/flows/:id/approve">,
  notice: keyof typeof NOTICES,
  move: () => Promise<unknown>,
): Promise<Response> {
  const path = `/flows/${encodeURIComponent(c.req.param("id"))}`;
  try {
    await move();
  } catch (error) {
    if (error instanceof ServiceError && error.status === 409) return c.redirect(`${path}?notice=changed`, 303);
    throw error;
  }
  return c.redirect(`${path}?notice=${notice}`, 303);
}

/** The response of `answer`, or the page of an unknown flow. */
async function orUnknown(c: Context<RouteEnv>, csrfToken: string, answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "flow_not_found") throw error;
    return sendPage(c, { title: "Unknown flow", body: unknownFlowBody(), csrfToken, section: "flows", status: 404 });
  }
}
