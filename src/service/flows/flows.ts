import type { FlowView } from "../../shared/wire/flow.ts";
import type { AccessView } from "../access/access-view.ts";
import type { Principal } from "../auth/api-keys.ts";
import { type Approval, approveFlow, declineFlow, type Refusal } from "./decide-flow.ts";
import { readFacts } from "./flow-facts.ts";
import { createFlowLists } from "./flow-lists.ts";
import { cancelFlow, type FlowMove, makeMove, resumeFlow } from "./flow-moves.ts";
import { type FlowParts, findFlow, flowNotFound, readFlow } from "./flow-rows.ts";
import type { FlowTemplate } from "./flow-template.ts";
import { nameAccounts, toFlowView, toTemplateView } from "./flow-view.ts";
import { createSegmentRunner } from "./segment-runner.ts";
import { type FlowStart, listUsable, type OnFlowStart, prepareFlow, startFlow } from "./start-flow.ts";
import { createSweeper } from "./sweeper.ts";
import { mailToNotesTasks } from "./templates/mail-to-notes-tasks.ts";
import { mailUnreadSummary } from "./templates/mail-unread-summary.ts";
import { notesReminder } from "./templates/notes-reminder.ts";

/** Multi-step flows of the accounts ("Flows"). */
export type Flows = Awaited<ReturnType<typeof openFlows>>;

const TEMPLATES: readonly FlowTemplate[] = [mailUnreadSummary, mailToNotesTasks, notesReminder];

/** Keys of the templates that are part of the service. */
export const BUILT_IN_KEYS: readonly string[] = TEMPLATES.map(({ key }) => key);

/** Templates of this service whose integrations are installed. */
export function findTemplates(catalog: FlowParts["catalog"]): FlowTemplate[] {
  const slugs = new Set(catalog.integrations.map(({ slug }) => slug));
  return TEMPLATES.filter(({ connectionFields }) => Object.keys(connectionFields).every((s) => slugs.has(s)));
}

/**
 * Opens the flows and continues those that a process left behind.
 *
 * @param parts.settleMs milliseconds to wait for a flow before answering that it runs. Default 2,000
 */
export async function openFlows(parts: FlowParts & { readonly settleMs?: number }) {
  const { store, templates, settleMs = 2000 } = parts;
  const runner = createSegmentRunner(parts, { onEnd: () => sweeper.arm() });
  const sweeper = createSweeper(parts, runner);

  const read = async (accountId: string, id: string): Promise<FlowView> => {
    const loaded = await readFlow(store, id, accountId);
    const template = templates.of(loaded.flow);
    const facts = await readFacts(store, templates, [loaded.flow], loaded.steps);
    return nameAccounts(toFlowView(loaded, template, facts), { template, connections: parts.connections });
  };
  const makeMoveOf = (accountId: string, id: string, move: FlowMove) =>
    makeMove(() => readFlow(store, id, accountId), move);
  const move = async (accountId: string, id: string, change: FlowMove) => {
    await makeMoveOf(accountId, id, change);
    await runner.run(id, settleMs);
    return read(accountId, id);
  };
  const close = async () => {
    await sweeper.close();
    await runner.close();
  };
  let closing: Promise<void> | undefined;
  const flows = {
    /** Templates whose integrations are installed, and whose tools the caller may all use. */
    listTemplates: (view: AccessView) => listUsable(templates.list(), view).map(toTemplateView),
    /**
     * Starts a flow and waits about two seconds for it to end or pause.
     *
     * @throws ServiceError 400, bare: unknown template, missing or invalid input.
     */
    async start(start: FlowStart): Promise<FlowView> {
      const id = await startFlow(parts, start);
      await runner.run(id, settleMs);
      return read(start.principal.accountId, id);
    },
    /**
     * Starts a flow for which nobody waits.
     *
     * @param onStart runs in the transaction that writes the flow; what it throws undoes the start.
     * @throws ServiceError as `start`, and what `onStart` throws.
     */
    async startAlone(start: FlowStart, onStart: OnFlowStart): Promise<void> {
      await runner.run(await startFlow(parts, start, onStart), 0);
    },
    /** @throws ServiceError as `start`; nothing is started. */
    async check(start: FlowStart): Promise<void> {
      await prepareFlow(parts, start);
    },
    ...createFlowLists(store, templates),
    /** @throws ServiceError 404, bare. */
    get: read,
    /** Templates that a person of the service may start. */
    listAll: () => templates.list(),
    /** Mistakes in the owner's files of templates. */
    listProblems: () => templates.problems(),
    /** @returns the template a flow was started from; undefined when it is gone. @throws ServiceError 404, bare. */
    findTemplate: async (accountId: string, id: string): Promise<FlowTemplate | undefined> =>
      templates.of((await readFlow(store, id, accountId)).flow),
    /** @throws ServiceError 404, bare, for a flow that this key has not started. */
    async requireOwn({ accountId, apiKeyId }: Principal, id: string): Promise<void> {
      if ((await findFlow(store, id, accountId))?.flow.api_key_id !== apiKeyId) throw flowNotFound();
    },
    /**
     * Approves the waiting step; `by` names the approver. Of two concurrent approvals one wins.
     *
     * @throws ServiceError 404, bare; 409, bare: nothing waits, or something else than what was seen does.
     */
    approve: (accountId: string, id: string, approval: Approval) =>
      move(accountId, id, (loaded, first) => approveFlow(parts, { loaded, first }, approval)),
    /**
     * Declines the waiting step, which ends the flow; the reason is kept for whoever started it.
     *
     * @throws ServiceError 404, bare; 409, bare: nothing waits, or something else than what was seen does.
     */
    decline: (accountId: string, id: string, refusal: Refusal) =>
      move(accountId, id, (loaded, first) => declineFlow(parts, { loaded, first }, refusal)),
    /**
     * Tries a failed flow again at its failed step, or ends a wait whose time has come. Resuming a step whose outcome is
     * unknown is the human's decision to make its call again; with `attempt`, of the one that was seen (see `toAttempt`).
     *
     * @throws ServiceError 404, bare; 409, bare: there is nothing to resume, or another attempt than the one that was seen.
     */
    resume: (accountId: string, id: string, { attempt }: { attempt?: string | undefined } = {}) =>
      move(accountId, id, (loaded, first) => resumeFlow(parts, { loaded, first, attempt })),
    /** @throws ServiceError 404, bare; 409, bare: the flow has ended. */
    async cancel(accountId: string, id: string): Promise<FlowView> {
      const { flow } = await makeMoveOf(accountId, id, (loaded) => cancelFlow(parts, loaded));
      runner.release(flow);
      return read(accountId, id);
    },
    /** Wakes flows whose time has come and continues those of dead processes. Otherwise done by a timer. */
    sweep: () => sweeper.sweep(),
    /** Lets running steps end; the other steps continue after the next start. */
    close(): Promise<void> {
      closing ??= close();
      return closing;
    },
  };
  await sweeper.sweep().catch((cause) => {
    parts.log({ level: "error", message: "Flows that were left running could not be continued.", cause });
  });
  sweeper.arm();
  return flows;
}
