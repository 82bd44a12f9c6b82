import type { Hono } from "hono";
import { html } from "hono/html";
import { cleanText } from "../../../shared/base/text.ts";
import { FLOW_PAGE } from "../../../shared/wire/constants.ts";
import type { FlowView } from "../../../shared/wire/flow.ts";
import { ServiceError } from "../../service-error.ts";
import type { Role } from "../../store/schema.ts";
import { type OwnForm, ownerPages } from "../owner-browser.ts";
import type { RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { MAX_REASON } from "./call-card.ts";
import { flowsBody } from "./flow-list.ts";
import { findCurrentStep, flowBody } from "./flow-page.ts";
import { type NamedExecution, nameExecutions } from "./named-execution.ts";
import { messageBody, type Page } from "./page.ts";
import { addStartPages } from "./start-flow.ts";

/** What a form has done; a flow that goes on meanwhile is told as it is now. */
const NOTICES = {
  started: (view) => `Started. ${describeProgress(view)}`,
  approved: (view) => `Approved. ${describeProgress(view)}`,
  resumed: (view) => `Resumed. ${describeProgress(view)}`,
  // The page says who declined it, and why.
  declined: () => undefined,
  cancelled: () => "The flow is cancelled.",
  none: () => "Nothing was chosen, so nothing was approved. Decline it if none of it is to be done.",
  changed: () => "The flow had changed before you pressed the button. This is how it stands now.",
} as const satisfies Record<string, (view: FlowView) => string | undefined>;
type Notice = keyof typeof NOTICES;

function describeProgress(view: FlowView): string {
  switch (view.flow.status) {
    case "completed":
      return "The flow is done.";
    case "failed":
      return "The flow then failed.";
    case "cancelled":
      return "The flow was then cancelled.";
    case "waiting":
      return findCurrentStep(view)?.stepType === "approval"
        ? "The flow waits for your approval."
        : "The flow waits for its time.";
    default:
      return "The flow goes on.";
  }
}

function isNotice(name: string | undefined): name is Notice {
  return name !== undefined && Object.hasOwn(NOTICES, name);
}

/** The list of flows, and the page of each with its decisions. */
export function addFlowPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { flows } = parts;
  // First: the address of a flow would match theirs.
  addStartPages(app, parts);
  ownerPages(app, parts).addPage("/flows", async (_c, { accountId }) => {
    const body = flowsBody({ flows: await flows.list({ accountId }, FLOW_PAGE.max), now: parts.now() });
    return { title: "Flows", body, section: "flows" };
  });
  ownerPages(app, parts, "approver").addPage("/flows/:id", (c, { accountId, csrfToken, person }) =>
    orUnknown(async () => {
      const view = await flows.get(accountId, c.req.param("id"));
      const name = c.req.query("notice");
      const notice = isNotice(name) ? NOTICES[name](view) : undefined;
      const calls = await listCalls(parts, accountId, view);
      const template = await flows.findTemplate(accountId, view.flow.id);
      const connections = await parts.connections.list();
      const body = flowBody({
        ...view,
        template,
        connections,
        calls,
        role: person.role,
        csrfToken,
        now: parts.now(),
        notice,
      });
      return { title: view.flow.name ?? "Flow", body, section: "flows" } as const;
    }),
  );
  addMoves(app, parts);
}

/** The calls that a flow made, as the log names them, by step. */
async function listCalls(parts: ServiceParts, accountId: string, { flow }: FlowView) {
  const calls = await parts.flows.listCalls(flow.id);
  const ids = calls.map(({ executionId }) => executionId);
  const named = await nameExecutions(parts, accountId, await parts.activity.findSome(accountId, ids));
  const byId = new Map(named.map((one) => [one.execution.id, one]));
  const bySteps = new Map<string, NamedExecution[]>();
  for (const { stepKey, executionId } of calls) {
    const one = byId.get(executionId);
    if (one !== undefined) bySteps.set(stepKey, [...(bySteps.get(stepKey) ?? []), one]);
  }
  return bySteps;
}

function addMoves(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { flows } = parts;
  const addMove = (least: Role, verb: string, notice: Notice, move: (id: string, sent: OwnForm) => Promise<unknown>) =>
    ownerPages(app, parts, least).addForm(`/flows/:id/${verb}`, (c, sent) => {
      const id = c.req.param("id") ?? "";
      return orUnknown(
        async () => `/flows/${encodeURIComponent(id)}?notice=${await tryMove(notice, () => move(id, sent))}`,
      );
    });
  // What the page showed, so that an old page cannot decide about anything else.
  const readSeen = ({ owner, form }: OwnForm) => ({
    stepKey: form.get("step") ?? "",
    seen: form.get("seen") ?? "",
    by: owner.person.name,
  });
  addMove("approver", "approve", "approved", async (id, sent) => {
    const { owner, form } = sent;
    const keep = form.has("choice") ? form.getAll("item").map(Number) : undefined;
    if (keep?.length === 0) return "none" as const;
    return flows.approve(owner.accountId, id, { ...readSeen(sent), keep });
  });
  addMove("approver", "decline", "declined", (id, sent) => {
    const reason = cleanText(sent.form.get("reason") ?? "", MAX_REASON) ?? undefined;
    return flows.decline(sent.owner.accountId, id, { ...readSeen(sent), reason });
  });
  // The failure that the page showed: a later one may be of a write whose outcome is unknown.
  addMove("owner", "resume", "resumed", (id, { owner, form }) =>
    flows.resume(owner.accountId, id, { attempt: form.get("attempt") ?? undefined }),
  );
  addMove("owner", "cancel", "cancelled", (id, { owner }) => flows.cancel(owner.accountId, id));
}

/** The notice of a move; `changed` when somebody else was faster, `none` where nothing was chosen. */
async function tryMove(notice: Notice, move: () => Promise<unknown>): Promise<Notice> {
  try {
    return (await move()) === "none" ? "none" : notice;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 409) return "changed";
    throw error;
  }
}

/** The answer of `work`, or the page of an unknown flow. */
async function orUnknown<Answer>(work: () => Promise<Answer>): Promise<Answer | Page> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "flow_not_found") throw error;
    const body = messageBody({
      heading: "This flow is unknown",
      text: "The link is incomplete, or the flow ended so long ago that it was removed.",
      next: html`<p><a href="/flows">All flows</a></p>`,
    });
    return { title: "Unknown flow", body, section: "flows", status: 404 };
  }
}
