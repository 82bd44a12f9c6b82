import type { Connection } from "../connections/connections.ts";
import { describeStepError, findCurrentStep } from "../pages/flow-page.ts";
import type { Errand } from "../pages/home-page.ts";
import { ServiceError } from "../service-error.ts";
import { nameApp } from "./app-names.ts";
import type { ServiceParts } from "./service-parts.ts";

/** Most flows that wait for an approval, and recent ones among which failed ones are looked for. */
const MAX_FLOWS = 30;

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
