import type { SvcError } from "../../../shared/errors.ts";
import { findRaisedLevel } from "../../../shared/schema-check/call-level.ts";
import { pickHigher, type RaisedLevel, rankLevel } from "../../../shared/wire/call-level.ts";
import type { SideEffectLevel } from "../../../shared/wire/catalog.ts";
import type { FlowPreview } from "../../../shared/wire/flow.ts";
import type { Preview } from "../../../shared/wire/preview.ts";
import type { LocatedFile } from "../../media/locate/locate-files.ts";
import type { InspectedFile } from "../../media/send/inspect-files.ts";
import { createFingerprint, type FingerprintSubject } from "../ask/fingerprint.ts";
import { type Effect, nameState } from "../ask/request.ts";
import type { CallTurn } from "../call-queue.ts";
import { type CatalogEntry, mustAskFirst } from "../catalog/catalog-entry.ts";
import type { CallRecord } from "../journal/call-record.ts";
import type { CallJournal } from "../journal/journal.ts";
import type { ConnectionChoice, OutcomeDetails, ToolOutcome } from "../outcome.ts";
import type { Pipeline, ToolCall, UploadMode } from "../pipeline.ts";
import type { Answered } from "./answer/read-reply.ts";

/** A call on its way through the steps; each step returns a changed copy. */
export interface CallPlan {
  readonly entry: CatalogEntry;
  /** Final arguments, with file references as the caller wrote them. A human approves these. */
  readonly arguments: Record<string, unknown>;
  /** Files among the arguments, not opened yet. */
  readonly located: readonly LocatedFile[];
  readonly files: readonly InspectedFile[];
  readonly connectionId: string | undefined;
  /** True when a human must have approved before the call is sent. */
  readonly mustAsk: boolean;
  /** Shown to the human as the reason, when the service asked for the confirmation itself. */
  readonly askReason: string | undefined;
  /** Fingerprint approved by a human or a standing rule. */
  readonly approved: string | undefined;
  /** What the call does beyond its tool's effect, as the service said when it was sent. */
  readonly raised: RaisedLevel | undefined;
  /** What the service says that the call would do; undefined where nobody has looked, or it cannot tell. */
  readonly look: CallLook | undefined;
  /** Of a flow that waits: what the service says that its next calls would do. */
  readonly previews: readonly FlowPreview[];
  /** The pin warning shown to the human, if any. */
  readonly toldOfPin: string | undefined;
  /** Number of times the tool's effect changed between approval and request. */
  readonly effectChanges: number;
  readonly upload: UploadMode;
  /** Storage keys of files already uploaded, by the reference of the file. */
  readonly uploaded: ReadonlyMap<string, string>;
  /** The service's answer, from its arrival until it is handled. */
  readonly answered: Answered | undefined;
  /** Names of the objections handled so far: each is handled once. */
  readonly objections: readonly string[];
  readonly notes: readonly string[];
}

/** A look at a call: what it would do, or that the present state could not be read. */
interface CallLook {
  /** Fingerprint of the request that was looked at. */
  readonly of: string;
  readonly preview?: Preview | undefined;
}

/** One call with everything its steps use: parts of the session, with the call's own overrides. */
export interface CallContext extends Omit<Pipeline, "journal"> {
  readonly call: Pick<
    ToolCall,
    "callId" | "toolName" | "connectionId" | "connections" | "keepsAnswers" | "resumesHeld"
  > & {
    /** @internal As in {@link ToolCall}. */
    readonly asked?: ToolCall["asked"];
  };
  readonly signal: AbortSignal | undefined;
  readonly journal: CallJournal;
  /** Milliseconds a request for approval stays open. */
  readonly approvalTtlMs: number;
  readonly own: OwnSend | undefined;
  readonly turn: CallTurn;
  readonly record: CallRecord;
}

/** The context of a call whose tool and arguments are not known yet. */
export type OpenedCall = Omit<CallContext, "record">;

/** Makes the context of a call, once. */
export function openCall(pipeline: Pipeline, call: ToolCall, turn: CallTurn, own?: OwnSend): OpenedCall {
  return {
    ...pipeline,
    call,
    own,
    turn,
    signal: call.signal,
    journal: call.journal ?? pipeline.journal,
    memory: call.memory ?? pipeline.memory,
    approve: call.approve ?? pipeline.approve,
    chooseConnection: call.chooseConnection ?? pipeline.chooseConnection,
    presentConnectLink: call.presentConnectLink ?? pipeline.presentConnectLink,
    approvalTtlMs: call.approvalTtlMs ?? pipeline.settings.approvalTtlMs,
  };
}

/**
 * Plans and sends a tool of the plugin itself. Its calls are approved, sent once and recorded like those of the
 * service's tools. They have no pin and no standing permission, and cannot be edited.
 */
export interface OwnSend {
  /**
   * Plans from the current state. The plan is shown to the human and computed again after the approval; it must match.
   */
  plan(): Promise<Step<OwnPlan>>;
  /** Throws SvcError for a refusal and a lost answer. */
  send(): Promise<OwnAnswer>;
  /** True when a request that ended with this error may have acted. */
  mayHaveActed(error: SvcError): boolean;
  /** Watches the started flow until it ends or waits; undefined when it cannot be watched. */
  follow(id: string): Promise<ToolOutcome | undefined>;
  describeError(error: SvcError): OutcomeDetails;
  /** Hint for a call whose answer was lost. */
  readonly howToCheck: string;
}

/** The effect of an own tool's call, in the form a human sees. */
interface OwnPlan {
  readonly title: string;
  readonly description: string;
  readonly reason: string;
  readonly account?: ConnectionChoice | undefined;
  /** Default: none. */
  readonly previews?: readonly FlowPreview[] | undefined;
  readonly arguments: Record<string, unknown>;
}

/** A success, with the id of the flow it started, if that is to be watched. */
export interface OwnAnswer {
  readonly outcome: ToolOutcome;
  readonly watching: string;
}

/** A step's result: go on with the value, go back to the approval with it, or stop with an outcome. */
export type Step<T> =
  | { readonly ok: true; readonly value: T; readonly again?: true }
  | { readonly ok: false; readonly outcome: ToolOutcome };

/** One step of a call. It returns the plan, as far as it has come, or an outcome. */
export type CallStep = (context: CallContext, plan: CallPlan) => Step<CallPlan> | Promise<Step<CallPlan>>;

/** Goes on to the next step. */
export function proceed<T>(value: T): Step<T> {
  return { ok: true, value };
}

/** Goes back to the approval. */
export function again<T>(value: T): Step<T> {
  return { ok: true, value, again: true };
}

/** Ends the call. */
export function stop<T>(outcome: ToolOutcome): Step<T> {
  return { ok: false, outcome };
}

/** Takes the steps in order, until one goes back or stops. */
export async function takeSteps(
  context: CallContext,
  plan: CallPlan,
  steps: readonly CallStep[],
): Promise<Step<CallPlan>> {
  let last = proceed(plan);
  for (const step of steps) {
    if (!last.ok || last.again) break;
    last = await step(context, last.value);
  }
  return last;
}

/** The initial plan of a call: nothing is checked, chosen or approved. */
export function startPlan(
  { settings }: Pick<CallContext, "settings">,
  entry: CatalogEntry,
  given: { readonly arguments: Record<string, unknown>; readonly notes: readonly string[] },
): CallPlan {
  return {
    entry,
    arguments: given.arguments,
    located: [],
    files: [],
    connectionId: undefined,
    mustAsk: false,
    askReason: undefined,
    approved: undefined,
    raised: undefined,
    look: undefined,
    previews: [],
    toldOfPin: undefined,
    effectChanges: 0,
    upload: settings.upload,
    uploaded: new Map(),
    answered: undefined,
    objections: [],
    notes: given.notes,
  };
}

type Pins = Pick<CallContext, "own" | "pins">;

/** Why a human has to agree to the tool itself before its next call; undefined if unchanged since it was pinned. */
export function findPinObjection({ own, pins }: Pins, entry: CatalogEntry): string | undefined {
  return own === undefined && pins.mode === "ask" ? pins.judge(entry)?.reason : undefined;
}

/** True when a human must have approved the call of a tool before it is sent. */
export function mustAskAbout(context: Pins, entry: CatalogEntry): boolean {
  return mustAskFirst(entry) || findPinObjection(context, entry) !== undefined;
}

/**
 * Updates the plan with the tool's current effect: if a tool changed from write to delete while a human was asked, a
 * new approval is needed. Returns the same plan when nothing has changed.
 */
export function followEffect(context: Pins & Pick<CallContext, "catalog">, plan: CallPlan): CallPlan {
  const effect = context.catalog.peek(plan.entry.name)?.effect ?? plan.entry.effect;
  if (effect === plan.entry.effect) return plan;
  const entry = { ...plan.entry, effect };
  return { ...plan, entry, mustAsk: plan.mustAsk || mustAskAbout(context, entry) };
}

/**
 * What a call does: its tool's effect, raised by its arguments as the service described it, and by what the service answered.
 * `does` says why it is more, in words that follow "it". Every decision about a call asks here.
 */
export function findCallEffect({ entry, arguments: args, raised: told }: CallPlan): CallEffect {
  const raised = pickHigher(findRaisedLevel(entry.callLevels?.conditions ?? [], args), told);
  if (raised === undefined) return { effect: entry.effect };
  const isMore = entry.effect === "unknown" || rankLevel(raised.level) > rankLevel(entry.effect);
  return { effect: isMore ? raised.level : entry.effect, does: raised.says };
}

interface CallEffect {
  readonly effect: Effect;
  readonly does?: string;
}

/** The level that a confirmation of the call is for, where the service takes it: a call that does more is not run. */
export function nameConfirmedLevel(plan: CallPlan): SideEffectLevel | undefined {
  const { effect } = findCallEffect(plan);
  return plan.entry.callLevels === undefined || effect === "unknown" ? undefined : effect;
}

/** Fingerprint of a plan as it would be sent now: tool and effect, state that was shown, arguments, account, file digests and principal. */
export function fingerprintPlan(context: Pick<CallContext, "client">, plan: CallPlan): string {
  return createFingerprint({ ...describeRequest(context, plan), ...nameBinding(plan) });
}

/** What a decision is bound to, besides the request. */
function nameBinding(plan: CallPlan): Pick<FingerprintSubject, "effect" | "state"> {
  return { effect: findCallEffect(plan).effect, state: nameState(plan.look?.preview, plan.previews) };
}

/** Fingerprint of the request a plan sends. Unlike a decision's, it does not depend on the tool's effect. */
export function fingerprintRequest(context: Pick<CallContext, "client">, plan: CallPlan): string {
  return createFingerprint(describeRequest(context, plan));
}

function describeRequest({ client }: Pick<CallContext, "client">, plan: CallPlan): FingerprintSubject {
  const { entry, arguments: args, connectionId: connection, files } = plan;
  return { tool: entry.name, arguments: args, connection, files, principal: client.principal };
}

/** True when exactly this plan was approved; any later change makes it false. */
export function isApproved(context: Pick<CallContext, "client">, plan: CallPlan): boolean {
  return plan.approved !== undefined && plan.approved === fingerprintPlan(context, plan);
}

/**
 * True for a call that the service promises to hold for its owner, so that nobody is asked here. It is sent unconfirmed
 * and runs nothing; if the service wants a confirmation all the same, the device asks.
 */
export function isForOwner({ own }: Pick<CallContext, "own">, plan: CallPlan): boolean {
  return (
    own === undefined &&
    plan.entry.ownerApproves === true &&
    !plan.objections.some((name) => name.startsWith("confirmation"))
  );
}

/** True for a read that is never journaled. */
export function isPlainRead(plan: CallPlan): boolean {
  return plan.entry.effect === "read" && !plan.mustAsk;
}
