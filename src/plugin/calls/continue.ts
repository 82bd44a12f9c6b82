import { createApprovalCard } from "./ask/card.ts";
import { canonicalJson } from "./ask/fingerprint.ts";
import { type ApprovalDecision, type ApprovalRequest, type Approver, decide } from "./ask/request.ts";
import type { CallSeal, SealedCall } from "./ask/sealed-call.ts";
import { nameAccount } from "./call-queue.ts";
import { BEHIND_FAILURE, findFailure } from "./journal/account-failures.ts";
import { createOutcome, type ToolOutcome } from "./outcome.ts";
import type { ConnectionQuestion, Pipeline, ToolCall } from "./pipeline.ts";
import { type OpenQuestion, previewCall, runTool } from "./run.ts";
import { CHANGING_TOOL_NAMES, type StaticTool } from "./static-tools.ts";

/**
 * A call that was planned and not run. `state` goes on with it: text for the host to keep, signed, readable by whoever has
 * it, and never for the model. It counts in every process with the same service, key and `stateDir`, until
 * `request.expiresAt`; without `stateDir` in this process.
 */
export type PreparedCall =
  | {
      /** A human must decide. */
      readonly kind: "approval";
      readonly request: ApprovalRequest;
      /** The whole request as lines of text, 80 cells wide; `createApprovalCard` draws it for other places. */
      readonly card: readonly string[];
      readonly state: string;
    }
  /** A human must choose the account: prepare the call again with its `connectionId`. */
  | { readonly kind: "connection"; readonly question: ConnectionQuestion; readonly state: string }
  /** Nothing is to be asked beforehand: `continue(state)` runs the call. */
  | { readonly kind: "none"; readonly state: string };

/** A human's answer to the request of a prepared call. An `id` or `fingerprint` that is given must be the request's. */
export type ContinueAnswer = DistributiveOmit<ApprovalDecision, "id" | "fingerprint"> &
  Partial<Pick<ApprovalDecision, "id" | "fingerprint">>;
type DistributiveOmit<T, Key extends PropertyKey> = T extends unknown ? Omit<T, Key> : never;

/** Further parts of a call that goes on. */
export type ContinueOptions = Pick<ToolCall, "signal" | "chooseConnection" | "presentConnectLink"> & {
  /** The call as the runtime has it now. Another one than was prepared is not run. */
  readonly expected?: Pick<ToolCall, "toolName" | "arguments"> | undefined;
};

/** End of a call that went on, or its next question. */
export interface ContinuedCall {
  readonly outcome: ToolOutcome;
  /** Set when the call ended with a question: another one than was answered, or one that came up while it ran. */
  readonly next?: Extract<PreparedCall, { kind: "approval" }> | undefined;
}

/** Calls whose question leaves the process. */
export interface CallContinuation {
  preview(call: ToolCall): Promise<OpenQuestion | undefined>;
  prepare(call: ToolCall): Promise<PreparedCall>;
  reopen(state: string, expected?: ContinueOptions["expected"]): Promise<PreparedCall | undefined>;
  continue(state: string, answer?: ContinueAnswer, options?: ContinueOptions): Promise<ContinuedCall>;
}

interface Parts {
  readonly pipeline: Pipeline;
  readonly seal: CallSeal;
  /** The plugin's own tools. */
  readonly tools: readonly StaticTool[];
}

/** Creates the functions that prepare, reopen and continue the calls of one session. */
export function createContinuation(parts: Parts): CallContinuation {
  return {
    preview: (call) => previewCall(parts.pipeline, call),
    prepare: (call) => prepare(parts, call),
    async reopen(state, expected) {
      const sealed = await openState(parts, state);
      if (sealed === undefined || !isExpected(parts, sealed, expected)) return undefined;
      return sealed.request === undefined ? { kind: "none", state } : describe(sealed.request, state);
    },
    continue: (state, answer, options) => goOn(parts, { state, answer, options }),
  };
}

async function prepare(parts: Parts, given: ToolCall): Promise<PreparedCall> {
  const tool = findTool(parts, given.toolName);
  const call: ToolCall = { ...given, ...tool?.readTarget(given.arguments) };
  const { callId, toolName, arguments: args, connectionId, connections, approvalTtlMs } = call;
  const kept = { callId, toolName, arguments: args, connectionId, connections, approvalTtlMs };
  const sealed: SealedCall = { call: kept, answers: [] };
  if (findTool(parts, call.toolName) !== undefined) {
    // Tools of the plugin that change something always ask first, so that nothing is run here.
    const isChanging = CHANGING_TOOL_NAMES.some((name) => name === call.toolName);
    const asked = isChanging ? (await run(parts, sealed, call)).asked : undefined;
    return ask(parts, sealed, asked);
  }
  const question = await previewCall(parts.pipeline, { keepsAnswers: "until_declined", ...call });
  if (question?.kind !== "connection") return ask(parts, sealed, question?.request);
  return { ...question, state: await parts.seal.seal(sealed) };
}

function findTool({ tools }: Parts, name: string): StaticTool | undefined {
  return tools.find((tool) => tool.name === name);
}

async function ask(parts: Parts, sealed: SealedCall, request: ApprovalRequest | undefined): Promise<PreparedCall> {
  if (request === undefined) return { kind: "none", state: await parts.seal.seal(sealed) };
  return describe(request, await sealQuestion(parts, sealed, request));
}

async function sealQuestion({ pipeline, seal }: Parts, sealed: SealedCall, request: ApprovalRequest): Promise<string> {
  const failure = await findFailure(pipeline.journal, nameAccount(request.integration, request.connection));
  return seal.seal({ ...sealed, request, after: sealed.after ?? failure?.stamp ?? "" });
}

/** What a human has said yes to, or changed. */
function describeAnswered({ request, after = "", answers }: SealedCall): ToolCall["asked"] {
  const answer = answers.at(-1);
  if (request === undefined || answer === undefined || answer.type === "decline") return undefined;
  const account = nameAccount(request.integration, request.connection);
  return { account, after, isYes: answer.type === "approve" };
}

function describe(request: ApprovalRequest, state: string) {
  const card = createApprovalCard(request, { maxRows: Number.POSITIVE_INFINITY });
  return { kind: "approval", request, card, state } as const;
}

async function openState({ seal }: Parts, state: string): Promise<SealedCall | undefined> {
  return seal.open(state).catch(() => undefined);
}

interface Continuing {
  readonly state: string;
  readonly answer: ContinueAnswer | undefined;
  readonly options: ContinueOptions | undefined;
}

async function goOn(parts: Parts, { state, answer, options = {} }: Continuing): Promise<ContinuedCall> {
  const { expected, ...rest } = options;
  const sealed = await openState(parts, state);
  if (sealed === undefined) return refuse(expected?.toolName, STRANGE);
  const { call, request, answers } = sealed;
  if (!isExpected(parts, sealed, expected)) return refuse(expected?.toolName, OTHER);
  const decisions = [...answers];
  if (request !== undefined) {
    const decision = { id: request.id, fingerprint: request.fingerprint, ...answer };
    const verdict = decide(request, decision, { now: parts.pipeline.now(), spent: new Map() });
    if (!verdict.accepted) return refuse(call.toolName, [`approval_${verdict.reason}`, verdict.message]);
    decisions.push(verdict.decision);
  }
  const waiting = { ...sealed, answers: decisions };
  const { outcome, asked } = await run(parts, waiting, { ...rest, asked: describeAnswered(waiting) });
  if (outcome.status !== "needs_approval" || asked === undefined) return { outcome };
  const isBehind = outcome.code === BEHIND_FAILURE;
  const next = describe(asked, await sealQuestion(parts, isBehind ? { ...waiting, after: undefined } : waiting, asked));
  const told = isBehind ? { hint: AGAIN } : request === undefined ? ASKED : CHANGED;
  return { outcome: { ...outcome, ...told, approval: asked }, next };
}

/** Runs a call with the answers it has, up to the first question without one. */
async function run(
  { pipeline, ...parts }: Parts,
  { call, answers }: Pick<SealedCall, "call" | "answers">,
  options: Pick<ToolCall, "signal" | "chooseConnection" | "presentConnectLink" | "asked">,
): Promise<{ readonly outcome: ToolOutcome; readonly asked: ApprovalRequest | undefined }> {
  let asked: ApprovalRequest | undefined;
  const approve: Approver = async (request) => {
    const { id, fingerprint } = request;
    const isFor = (decision: ApprovalDecision) =>
      decision.fingerprint === fingerprint && (decision.id === id || decision.type === "decline");
    const found = answers.find(isFor);
    // A no to the same call counts, whatever has failed since.
    if (found !== undefined) return { ...found, id };
    asked = request;
    throw new Error("Nobody has answered yet.");
  };
  const { signal, chooseConnection, presentConnectLink, asked: put } = options;
  const terms = { signal, chooseConnection, presentConnectLink, approve, keepsAnswers: "until_declined" } as const;
  const tool = parts.tools.find(({ name }) => name === call.toolName);
  const outcome = await (tool === undefined
    ? runTool(pipeline, { ...call, ...terms, asked: put })
    : tool.run(call.arguments, { ...call, ...terms }));
  return { outcome, asked };
}

function isExpected(parts: Parts, { call }: SealedCall, expected: ContinueOptions["expected"]): boolean {
  if (expected === undefined) return true;
  const { toolName, arguments: args } = findTool(parts, expected.toolName)?.readTarget(expected.arguments) ?? expected;
  return call.toolName === toolName && toText(call.arguments) === toText(args);
}

/** Never equal to another when it cannot be written. */
function toText(args: unknown): string | symbol {
  try {
    return canonicalJson(args);
  } catch {
    return Symbol("not JSON");
  }
}

const STRANGE = [
  "approval_malformed",
  "This state was not given for this service, key and state folder, or it was changed.",
] as const;
const OTHER = ["approval_wrong_fingerprint", "The approval was asked for another call."] as const;
const HINT = "Prepare the call again and show the user the new request.";

function refuse(toolName = "", [code, message]: readonly [code: string, message: string]): ContinuedCall {
  const told = { code, message: `${message} Nothing was run.`, hint: HINT, retryable: false };
  return { outcome: createOutcome("needs_approval", toolName, told) };
}

const AGAIN = "Make the same call again: the user is then asked for exactly this.";
const ASKED = { code: "approval_required", message: "This needs the user's approval. Nothing was run.", hint: AGAIN };
const CHANGED = {
  code: "approval_changed",
  message: "What would be done is not what the user was asked about. Nothing was run.",
  hint: AGAIN,
};
