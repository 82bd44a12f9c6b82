import type { FlowStep, FlowView } from "../../wire/flow.ts";
import type { Connection, Connections } from "../connections/connections.ts";
import type { FlowTemplate } from "./flow-template.ts";

/** An account that a flow uses. */
interface FlowAccount {
  /** Slug of the integration. */
  readonly app: string;
  /** What its owner calls it now; null when it was disconnected. */
  readonly account: string | null;
  /** Id of the connection; null when none was chosen, which is why an approval is refused then. */
  readonly connection: string | null;
}

/** Apps with an account of its own choice that the steps after the approval at `index` act on, up to the next one. */
export function listFollowingApps({ steps, connectionFields }: FlowTemplate, index: number): string[] {
  const after = steps.slice(index + 1);
  const next = after.findIndex(({ type }) => type === "approval");
  const apps = (next === -1 ? after : after.slice(0, next)).flatMap((step) =>
    step.type === "tool_call" ? [step.app] : [],
  );
  return [...new Set(apps)].filter((app) => Object.hasOwn(connectionFields, app));
}

/** Names the accounts that an approval lets a flow use in what the waiting step shows, as they are called now. */
export async function nameAccounts(
  view: FlowView,
  { template, connections }: { template: FlowTemplate | undefined; connections: Connections },
): Promise<FlowView> {
  const waiting = view.steps.find((step) => step.stepType === "approval" && step.status === "waiting");
  const apps = waiting && template ? listFollowingApps(template, waiting.stepIndex) : [];
  if (apps.length === 0) return view;
  const chosen = (view.flow.context?.connections ?? {}) as Record<string, string>;
  const known = await connections.list();
  const accounts = apps.map((app) => toAccount(app, chosen[app], known));
  return { ...view, steps: view.steps.map((step) => (step === waiting ? showAccounts(step, accounts) : step)) };
}

function toAccount(app: string, id: string | undefined, known: readonly Connection[]): FlowAccount {
  return { app, account: known.find((connection) => connection.id === id)?.label ?? null, connection: id ?? null };
}

function showAccounts(step: FlowStep, accounts: readonly FlowAccount[]): FlowStep {
  const output = typeof step.output === "object" && step.output !== null ? step.output : {};
  return { ...step, output: { accounts, ...output } };
}
