import type { Flow, FlowTriggerType, FlowView } from "../../wire/flow.ts";
import type { AccessView } from "../access/access-view.ts";
import type { Principal } from "../auth/api-keys.ts";
import { createId } from "../auth/secrets.ts";
import { findDefaultConnection } from "../connections/connections.ts";
import { refuseBare } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import type { FlowRow, FlowStepRow } from "../store/schema.ts";
import { approveFlow, cancelFlow, type FlowMove, makeMove, resumeFlow } from "./flow-moves.ts";
import { type FlowParts, findFlow, flowNotFound, readFlow, readTime } from "./flow-rows.ts";
import { type FlowTemplate, refuseInput } from "./flow-template.ts";
import { nameAccounts, toFlow, toFlowView, toTemplateView } from "./flow-view.ts";
import { createSegmentRunner } from "./segment-runner.ts";
import { createSweeper } from "./sweeper.ts";
import { mailToNotesTasks } from "./templates/mail-to-notes-tasks.ts";
import { mailUnreadSummary } from "./templates/mail-unread-summary.ts";
import { notesReminder } from "./templates/notes-reminder.ts";

/** Multi-step flows of the accounts ("Flows"). */
export type Flows = Awaited<ReturnType<typeof openFlows>>;

const TEMPLATES: readonly FlowTemplate[] = [mailUnreadSummary, mailToNotesTasks, notesReminder];

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

  const select = (accountId: string, limit: number) => {
    const query = store.selectFrom("flows").selectAll().where("account_id", "=", accountId);
    return query.orderBy("updated_at", "desc").orderBy("id", "desc").limit(limit);
  };
  const read = async (accountId: string, id: string): Promise<FlowView> => {
    const loaded = await readFlow(store, id, accountId);
    const template = templates.find(({ key }) => key === loaded.flow.template_key);
    return nameAccounts(toFlowView(loaded, templates), { template, connections: parts.connections });
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
    listTemplates: (view: AccessView) => listUsable(templates, view).map(toTemplateView),
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
    /** Flows of an account, or only those that one key started, the one that changed last first. */
    async list({ accountId, apiKeyId }: FlowOwner, limit: number): Promise<Flow[]> {
      const all = select(accountId, limit);
      const rows = await (apiKeyId === undefined ? all : all.where("api_key_id", "=", apiKeyId)).execute();
      return rows.map((row) => toFlow(row, templates));
    },
    ...listWaitingFlows(store, templates),
    /** @throws ServiceError 404, bare. */
    get: read,
    /** @throws ServiceError 404, bare, for a flow that this key has not started. */
    async requireOwn({ accountId, apiKeyId }: Principal, id: string): Promise<void> {
      if ((await findFlow(store, id, accountId))?.flow.api_key_id !== apiKeyId) throw flowNotFound();
    },
    /**
     * Approves the waiting step; `by` names the approver. Of two concurrent approvals one wins.
     *
     * @throws ServiceError 404, bare; 409, bare: nothing waits, or another step than `stepKey` does.
     */
    approve: (accountId: string, id: string, { stepKey, by }: { stepKey?: string | undefined; by: string }) =>
      move(accountId, id, (loaded, first) => approveFlow(parts, { loaded, first }, { stepKey, by })),
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

/** The flows that wait for an approval. */
function listWaitingFlows(store: Store, templates: readonly FlowTemplate[]) {
  // A timed wait has a `wake_at`; an approval has none.
  const waiting = (accountId: string) =>
    store
      .selectFrom("flows")
      .where("account_id", "=", accountId)
      .where("status", "=", "waiting")
      .where("wake_at", "is", null);
  return {
    /** Flows of an account that wait for an approval, the one that changed last first; `after` is the last of an earlier list. */
    async listWaiting(
      accountId: string,
      { limit, after }: { limit: number; after?: { time: string; id: string } | undefined },
    ): Promise<Flow[]> {
      const newest = waiting(accountId).selectAll().orderBy("updated_at", "desc").orderBy("id", "desc");
      const rest =
        after === undefined
          ? newest
          : newest.where((e) => e(e.refTuple("updated_at", "id"), "<", e.tuple(after.time, after.id)));
      const rows = await rest.limit(limit).execute();
      return rows.map((row) => toFlow(row, templates));
    },
    /** How many of them there are. */
    async countWaiting(accountId: string): Promise<number> {
      const counted = waiting(accountId).select((e) => e.fn.countAll<number | string>().as("count"));
      return Number((await counted.executeTakeFirstOrThrow()).count);
    },
  };
}

/** Whose flows: those of an account, or of one of its keys. */
interface FlowOwner {
  readonly accountId: string;
  readonly apiKeyId?: string;
}

/** A template with a tool that the caller may not use does not exist for it. */
function listUsable(templates: readonly FlowTemplate[], { catalog, isLimited }: AccessView): readonly FlowTemplate[] {
  if (!isLimited) return templates;
  return templates.filter(({ tools }) => tools.every((tool) => catalog.find(tool) !== undefined));
}

interface FlowStart {
  readonly principal: Principal;
  readonly templateKey: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly triggerType: FlowTriggerType;
}

/**
 * Writes a new flow; its first segment is pending. Connections are chosen now, so that an approval later is one for the
 * account that was meant.
 *
 * @returns its id
 * @throws ServiceError 400, bare: unknown template, missing or invalid input.
 */
async function startFlow(parts: FlowParts, start: FlowStart): Promise<string> {
  const view = await parts.access.view(start.principal);
  const templates = listUsable(parts.templates, view);
  const template = templates.find((one) => one.key === start.templateKey);
  if (template === undefined) {
    const known = templates.map(({ key }) => key).join(", ");
    const message = `There is no flow template "${start.templateKey}".${known === "" ? "" : ` Templates: ${known}.`}`;
    throw refuseBare(400, "template_not_found", message);
  }
  const input = template.readInput(start.input, parts.now());
  const connections = await chooseConnections(view, template, input);
  const flow = createFlowRow(parts, { ...start, template, connections });
  await parts.store.transaction().execute(async (db) => {
    await db.insertInto("flows").values(flow).execute();
    await db.insertInto("flow_steps").values(createStepRows(template, flow.id)).execute();
  });
  return flow.id;
}

/** The connections that were named, or are the default now; none where the human has to choose or connect first. */
async function chooseConnections(
  { connections }: AccessView,
  { connectionFields }: FlowTemplate,
  input: Readonly<Record<string, unknown>>,
): Promise<Record<string, string>> {
  const chosen: Record<string, string> = {};
  for (const [slug, field] of Object.entries(connectionFields)) {
    const own = await connections.list(slug);
    const wanted = input[field];
    const found = wanted === undefined ? findDefaultConnection(own) : own.find(({ id }) => id === wanted);
    if (wanted !== undefined && found === undefined) {
      const ids = own.map(({ id, label }) => `${id} (${label})`).join(", ");
      throw refuseInput(field, `names no connection of ${slug}${ids === "" ? "" : `; there are: ${ids}`}`);
    }
    if (found !== undefined) chosen[slug] = found.id;
  }
  return chosen;
}

function createFlowRow(
  parts: FlowParts,
  o: FlowStart & { template: FlowTemplate; connections: Readonly<Record<string, string>> },
): FlowRow {
  const at = readTime(parts);
  return {
    id: createId("flw"),
    account_id: o.principal.accountId,
    api_key_id: o.principal.apiKeyId,
    template_key: o.template.key,
    status: "pending",
    trigger_type: o.triggerType,
    input: JSON.stringify(o.input),
    context: JSON.stringify({ connections: o.connections }),
    current_step: o.template.steps[0]?.key ?? "",
    segment: 1,
    runner: parts.node.id,
    wake_at: null,
    created_at: at,
    updated_at: at,
    completed_at: null,
  };
}

function createStepRows({ steps }: FlowTemplate, flowId: string): FlowStepRow[] {
  return steps.map(({ key, type }, index) => ({
    flow_id: flowId,
    step_index: index,
    step_key: key,
    step_type: type,
    status: "pending",
    input: null,
    output: null,
    error: null,
    attempts: 0,
    started_at: null,
    completed_at: null,
  }));
}
