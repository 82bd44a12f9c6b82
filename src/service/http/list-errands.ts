import type { Connection } from "../connections/connections.ts";
import { describeStepError, findCurrentStep } from "../pages/flow-page.ts";
import type { Errand } from "../pages/home-page.ts";
import { nameApp } from "./app-names.ts";
import type { ServiceParts } from "./service-parts.ts";

/** Flows looked at for errands; older ones are on the flows page. */
const RECENT_FLOWS = 30;

/** What waits for the owner: approvals of flows first, then connections, then flows that failed. */
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
  for (const { id, name, status } of await flows.list(accountId, RECENT_FLOWS)) {
    if (status !== "waiting" && status !== "failed") continue;
    const step = findCurrentStep(await flows.get(accountId, id));
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

function describeConnection(parts: ServiceParts, { id, label, integration, state }: Connection): Errand[] {
  if (state === "healthy") return [];
  const app = nameApp(parts, integration);
  return [
    {
      title: `“${label}” must be reconnected`,
      text: state === "error" ? `${app} cannot work as it is set up.` : `${app} refused the access.`,
      href: `/connections/${id}/reconnect`,
      action: "Reconnect",
      isUrgent: false,
    },
  ];
}
