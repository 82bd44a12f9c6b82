import { toPlainText } from "../../../shared/card/plain-text.ts";
import type { SourceMark } from "../../added/source-store.ts";
import { summariseCall } from "../../approvals/summarise-call.ts";
import type { Connection } from "../../connections/connection.ts";
import { ServiceError } from "../../service-error.ts";
import type { ServiceParts } from "../service-parts.ts";
import { nameApp } from "./app-names.ts";
import { describeWaitingFlow } from "./flow-list.ts";
import { findCurrentStep } from "./flow-page.ts";
import { describeStepError } from "./flow-steps.ts";
import { listWaiting, type WaitingItem } from "./waiting.ts";

/** A task that waits for the owner, with the page where they do it. */
export interface Errand {
  readonly title: string;
  readonly text: string;
  readonly href: string;
  readonly action: string;
  /** True when work stands still until somebody decides. */
  readonly isUrgent: boolean;
}

/** Most calls and flows that wait for an approval; the inbox has all. */
const MAX_WAITING = 10;
/** Recent flows among which failed ones are looked for. */
const MAX_FLOWS = 30;

/** Tasks of the owner: approvals of calls and flows first, then changed apps, connections, and failed flows. */
export async function listErrands(
  parts: ServiceParts,
  accountId: string,
  connections: readonly Connection[],
): Promise<Errand[]> {
  const { items, total } = await listWaiting(parts, accountId, { limit: MAX_WAITING });
  const more = total - items.length;
  return [
    ...items.map((item) => describeWaiting(item, parts)),
    ...(more > 0 ? [{ ...INBOX, title: `${more} more wait for you`, text: "The inbox has all of them." }] : []),
    ...(await parts.sources.listMarks()).flatMap((mark) => describeChange(parts, mark)),
    ...connections.flatMap((connection) => describeConnection(parts, connection)),
    ...(await listFailedFlows(parts, accountId)),
  ];
}

const INBOX = { href: "/inbox", action: "Go to the inbox", isUrgent: true };

function describeWaiting({ id, call, flow }: WaitingItem, { now }: Pick<ServiceParts, "now">): Errand {
  const errand = { action: "Review", isUrgent: true };
  if (call === undefined) {
    return { ...errand, title: flow.name ?? id, text: describeWaitingFlow(flow, now()), href: `/flows/${id}` };
  }
  const { content, toolName } = call;
  const about = summariseCall(content);
  const account = toPlainText(content?.account ?? toolName);
  const text = `A call waits for your approval: ${about === undefined ? account : `${about}, on ${account}`}.`;
  return { ...errand, title: toPlainText(content?.title ?? toolName), text, href: `/inbox/${id}` };
}

async function listFailedFlows({ flows }: ServiceParts, accountId: string): Promise<Errand[]> {
  const failures: Errand[] = [];
  const recent = await flows.list({ accountId }, MAX_FLOWS);
  for (const { id, name } of recent.filter(({ status }) => status === "failed")) {
    const view = await flows.get(accountId, id).catch(skipMissing);
    if (view === undefined) continue;
    const step = findCurrentStep(view);
    const text = (step && describeStepError(step)) ?? "It failed.";
    failures.push({ title: name ?? id, href: `/flows/${id}`, isUrgent: false, text, action: "Look at it" });
  }
  return failures;
}

/** An old flow may be removed at any time. */
function skipMissing(error: unknown): undefined {
  if (!(error instanceof ServiceError) || error.status !== 404) throw error;
}

/** New actions alone stop nothing: the connections page tells of them. */
function describeChange(parts: ServiceParts, { slug, proposal, isDismissed }: SourceMark): Errand[] {
  if (proposal !== "changes" || isDismissed) return [];
  const text = "The changed ones are not run until you agree.";
  return [
    {
      title: `${nameApp(parts, slug)} changed its actions`,
      text,
      href: `/apps/${slug}/review`,
      action: "Review",
      isUrgent: false,
    },
  ];
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
