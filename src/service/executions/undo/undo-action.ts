import { z } from "zod";
import { defineAction } from "../../../apps/port/define-action.ts";
import type { Action, Integration, JudgeContext } from "../../../apps/port/integration.ts";
import { checkState, quoteName } from "../../../apps/port/preview.ts";
import { type Caller, refuseUndo, type UndoPlan } from "../../../apps/port/undo.ts";
import { exactTime } from "../../../shared/base/text.ts";
import { UNDO_ACTION } from "../../../shared/wire/execution.ts";
import { refuseMissing, ServiceError } from "../../service-error.ts";
import type { ExecutionRow } from "../../store/schema.ts";
import type { Delays } from "../delays.ts";
import { describeObject, parseBeginning } from "../describe-object.ts";
import type { ExecutionLog } from "../execution-log.ts";
import { type KeptWrites, undoUntil } from "./kept-writes.ts";

interface UndoParts {
  readonly accountId: string;
  readonly log: Pick<ExecutionLog, "find">;
  readonly kept: Pick<KeptWrites, "find" | "settle">;
  readonly delays: Pick<Delays, "stop">;
  readonly now: () => number;
}

/** The app with the action that takes back its writes, where it has writes that can be. */
export function addUndo(integration: Integration, parts: UndoParts): Integration {
  const canUndo = integration.actions.some(({ undo, delay }) => undo !== undefined || delay !== undefined);
  return canUndo ? { ...integration, actions: [...integration.actions, createUndo(integration, parts)] } : integration;
}

/** A write like any other, with its own preview; found by its name and by `POST /api/executions/{id}/undo`, and not listed. */
function createUndo(integration: Integration, parts: UndoParts): Action {
  const findWrite = createFindWrite(integration, parts);
  const planUndo = async (id: string, context: JudgeContext): Promise<UndoPlan> => {
    const { row, plan } = await findWrite(id);
    if (row.connection_id !== context.connection.id) throw refuseAccount();
    return plan(context);
  };
  const action = defineAction({
    id: UNDO_ACTION,
    title: "Undo a change",
    description: `Takes back a change that was made in ${integration.name} by an earlier call, if nothing was changed there since.`,
    level: "write",
    isHidden: true,
    requiresConfirmation: true,
    idempotent: false,
    scopes: [],
    arguments: z.strictObject({
      execution_id: z.string().min(1).max(100).describe("The execution_id of that call's answer."),
    }),
    examples: [{ execution_id: "exe_k3m9x2p7qahd" }],
    askBefore: ["Which change is taken back?"],
    async judge({ execution_id }, context) {
      return (await planUndo(execution_id, context)).raised;
    },
    async preview({ execution_id }, context) {
      return (await planUndo(execution_id, context)).draft;
    },
    async run({ execution_id }, context) {
      const { draft, act } = await planUndo(execution_id, context);
      checkState(context, draft.seen);
      const done = await act();
      return { undone: execution_id, ...done };
    },
  });
  return {
    ...action,
    async findConnection(args, caller) {
      const { execution_id: id } = z.looseObject({ execution_id: z.string() }).safeParse(args).data ?? {};
      return id === undefined ? undefined : (await findWrite(id, caller)).row.connection_id;
    },
  };
}

interface FoundWrite {
  readonly row: ExecutionRow;
  plan(context: JudgeContext): Promise<UndoPlan>;
}

/** Finds a write of the app that can be taken back, or stopped. */
function createFindWrite({ slug, actions }: Integration, parts: UndoParts) {
  const { accountId, log, kept, now } = parts;
  return async (id: string, caller?: Caller): Promise<FoundWrite> => {
    const row = await log.find(accountId, id);
    const isSeen = caller === undefined || !caller.isLimited || row?.api_key_id === caller.id;
    if (row === undefined || row.integration !== slug || !isSeen) throw refuseUnknown(id);
    const { title = id, undo } = actions.find((action) => action.id === row.action_id) ?? {};
    if (row.waits_until !== null) return { row, plan: async () => planStop(parts, row, title) };
    const write = await kept.find(id);
    const why = whyNot(row, { hasUndo: undo !== undefined, state: write?.state });
    if (why !== undefined || undo === undefined || write === undefined) throw refuseUndo(why ?? "it was not kept.");
    if (undoUntil(Date.parse(write.keptAt)) <= new Date(now()).toISOString()) throw refuseUndo("it is too long ago.");
    const plan = async (context: JudgeContext): Promise<UndoPlan> => {
      const planned = await undo(write, context);
      const act = async () => {
        const done = await planned.act();
        await kept.settle(id, { state: "undone" });
        return done;
      };
      return { ...planned, act };
    };
    return { row, plan };
  };
}

/** Stops a call that waits before it acts. */
function planStop({ accountId, delays }: UndoParts, row: ExecutionRow, title: string): UndoPlan {
  const about = describeObject(parseBeginning(row.arguments));
  return {
    draft: {
      summary: `Stop ${quoteName(title)} before it is done${about === undefined ? "" : `: ${about}`}`,
      effects: [
        { code: "stops", text: `It would be done at ${exactTime(row.waits_until ?? "")}. Nothing of it is done.` },
      ],
      undo: { possible: false, why: "It can be asked for again." },
      seen: row.id,
    },
    async act() {
      if (!(await delays.stop(accountId, { id: row.id, title }))) throw refuseUndo("it was begun in the meantime.");
      return { stopped: true };
    },
  };
}

function whyNot(
  { status, side_effect_level }: ExecutionRow,
  { hasUndo, state }: { readonly hasUndo: boolean; readonly state: string | undefined },
): string | undefined {
  if (side_effect_level === "read") return "it changed nothing.";
  if (status === "refused") return "it was not run.";
  if (status === "started") return "it has not ended yet.";
  if (state === "undone") return "it was undone before.";
  if (status === "failed") return "it failed, or nobody knows whether it took effect.";
  if (!hasUndo) return "what this call does is final.";
  return state === "done" ? undefined : "what is needed for it is not kept any more.";
}

function refuseUnknown(id: string): ServiceError {
  return refuseMissing(`No change with the execution_id "${id}" was made here.`, "Send the execution_id of an answer.");
}

function refuseAccount(): ServiceError {
  return new ServiceError(400, "invalid_arguments", "That change was made with another account.", {
    type: "validation",
    hint: "Leave the account out: it follows from the execution_id.",
  });
}
