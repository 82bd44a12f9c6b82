import { randomUUID } from "node:crypto";
import { z } from "zod";
import { sha256Hex } from "../../../shared/base/hash.ts";
import { cloneJson } from "../../../shared/base/json.ts";
import { toPlainText } from "../../../shared/card/plain-text.ts";
import type { SideEffectLevel } from "../../../shared/wire/catalog.ts";
import type { FlowPreview } from "../../../shared/wire/flow.ts";
import type { Preview } from "../../../shared/wire/preview.ts";
import { jsonObject } from "../../../shared/wire/tool.ts";
import { createFingerprint, type FingerprintFile } from "./fingerprint.ts";

/** What a call may change. `unknown` when the service does not say. */
export type Effect = SideEffectLevel | "unknown";

/** A file that a call would send. */
export interface ApprovalFile extends FingerprintFile {
  /** Path or URL exactly as the caller wrote it. */
  readonly reference: string;
}

/** Everything a human needs to decide about one call. Render texts with `createApprovalCard`, which neutralises them. */
export interface ApprovalRequest {
  /** Random and never reused. Stable when a runtime repeats the call after an answer. */
  readonly id: string;
  readonly fingerprint: string;
  readonly tool: string;
  readonly integration: string;
  /** The account's label as the human knows it, if known. */
  readonly account?: string;
  /** Connection id, when one is chosen; otherwise the integration's default connection is used. */
  readonly connection?: string;
  /** False when there is no single account to name, as for a flow, whose apps each have their own. Default true. */
  readonly hasAccount?: false;
  /** False when the arguments cannot be changed, as those of a flow that waits. Default true. */
  readonly canEdit?: false;
  readonly arguments: Record<string, unknown>;
  readonly files: readonly ApprovalFile[];
  readonly effect: Effect;
  /** Why this call does more than its tool says, in words that follow "it". */
  readonly does?: string;
  readonly title: string;
  readonly description: string;
  readonly reason: string;
  /** Questions the service wants answered before the call. */
  readonly askBefore?: readonly string[];
  /** What the service says that the call would do; the call runs only while its `state` is the present one. */
  readonly preview?: Preview;
  /** True where the service could not read the present state. */
  readonly previewFailed?: true;
  /** Of a flow that waits: what the calls that it goes on with would do; each runs only while its `state` is the present one. */
  readonly previews?: readonly FlowPreview[];
  /** ISO time after which a decision no longer counts. */
  readonly expiresAt: string;
}

/** A human's answer. It counts only for the request whose id and fingerprint it repeats. */
export type ApprovalDecision =
  | {
      readonly type: "approve";
      readonly id: string;
      readonly fingerprint: string;
      /** Also allow this tool on this connection from now on. Ignored for delete and admin actions. Default false. */
      readonly always?: boolean | undefined;
    }
  | {
      readonly type: "edit";
      readonly id: string;
      readonly fingerprint: string;
      /** The complete arguments the human wants, replacing the shown ones. */
      readonly arguments: Record<string, unknown>;
    }
  | {
      readonly type: "decline";
      readonly id: string;
      readonly fingerprint: string;
      readonly message?: string | undefined;
    };

/**
 * Puts a request before a human. Rejecting, never answering, or answering after `expiresAt` means: not approved.
 * `signal` aborts when the call is aborted or the request expires.
 */
export type Approver = (
  request: ApprovalRequest,
  options: {
    readonly signal: AbortSignal;
    /**
     * True while the journal knows of an earlier yes to this request that was not used. A runtime that keeps answers by
     * itself gives a yes again only then.
     */
    readonly isGranted?: boolean | undefined;
    /** True if a yes that was given before this request does not count for it. Default false. */
    readonly isAgain?: boolean | undefined;
  },
) => Promise<ApprovalDecision>;

type StatedFacts = "tool" | "integration" | "arguments" | "files" | "effect" | "title" | "description" | "reason";

/** Facts for {@link createApprovalRequest}, which cuts texts and makes them plain. */
export interface ApprovalSubject extends Pick<ApprovalRequest, StatedFacts> {
  readonly account?: string | undefined;
  readonly connection?: string | undefined;
  readonly hasAccount?: false | undefined;
  readonly canEdit?: false | undefined;
  readonly askBefore?: readonly string[] | undefined;
  readonly does?: string | undefined;
  readonly preview?: Preview | undefined;
  readonly previewFailed?: true | undefined;
  readonly previews?: readonly FlowPreview[] | undefined;
  /** Non-secret id of service and key. */
  readonly principal: string;
  /** Set when a re-run must find the same request. Default: random. */
  readonly id?: string | undefined;
}

const TITLE_MAX = 120;
const DESCRIPTION_MAX = 1_024;
/** Further questions are only counted, so that a long list cannot push the rest of a card out of sight. */
const MOST_QUESTIONS = 8;

/** Builds a request that expires `ttlMs` after `now` (milliseconds since the epoch). */
export function createApprovalRequest(subject: ApprovalSubject, time: { now: number; ttlMs: number }): ApprovalRequest {
  const { tool, connection, files, principal, effect, preview, previews = [] } = subject;
  const state = nameState(preview, previews);
  const bound = { tool, arguments: subject.arguments, connection, files, principal, effect, state };
  return {
    id: subject.id ?? randomUUID(),
    fingerprint: createFingerprint(bound),
    tool,
    integration: subject.integration,
    ...(subject.account === undefined ? {} : { account: toPlainText(subject.account, { max: TITLE_MAX }) }),
    ...(connection === undefined ? {} : { connection }),
    ...(subject.hasAccount === undefined ? {} : { hasAccount: subject.hasAccount }),
    ...(subject.canEdit === undefined ? {} : { canEdit: subject.canEdit }),
    arguments: cloneJson(subject.arguments) as typeof subject.arguments,
    files: files.map((file) => ({ ...file })),
    effect,
    ...(subject.does === undefined ? {} : { does: toPlainText(subject.does, { max: TITLE_MAX * 2 }) }),
    title: toPlainText(subject.title, { max: TITLE_MAX }),
    description: toPlainText(subject.description, { max: DESCRIPTION_MAX, keepLines: true }),
    reason: toPlainText(subject.reason, { max: DESCRIPTION_MAX, keepLines: true }),
    ...(subject.askBefore === undefined || subject.askBefore.length === 0
      ? {}
      : { askBefore: limitQuestions(subject.askBefore) }),
    ...(preview === undefined ? {} : { preview }),
    ...(subject.previewFailed === undefined ? {} : { previewFailed: subject.previewFailed }),
    ...(previews.length === 0 ? {} : { previews }),
    expiresAt: new Date(time.now + time.ttlMs).toISOString(),
  };
}

/** The state that a card shows, or those of all calls of a flow; undefined where it shows none. */
export function nameState(preview: Preview | undefined, previews: readonly FlowPreview[]): string | undefined {
  if (previews.length === 0) return preview?.state;
  return JSON.stringify(previews.map((one) => one.preview?.state ?? null));
}

function limitQuestions(questions: readonly string[]): string[] {
  const shown = questions.slice(0, MOST_QUESTIONS).map((line) => toPlainText(line, { max: TITLE_MAX * 2 }));
  const rest = questions.length - shown.length;
  return rest === 0 ? shown : [...shown, `${rest} more questions of the service are not shown.`];
}

/**
 * The id of a question in a call that a graph repeats after the answer. Equal parts always give the same id; other
 * arguments, files or accounts (all in the fingerprint) give a different one. Formatted as a UUID, so that no graph
 * mistakes it for one of its own ids.
 */
export function createStableId(parts: readonly (string | number)[]): string {
  const hex = sha256Hex(JSON.stringify(parts));
  const groups = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)];
  return groups.join("-");
}

const binding = { id: z.string(), fingerprint: z.string() };
const decisionSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("approve"), ...binding, always: z.boolean().optional() }),
  z.object({ type: z.literal("edit"), ...binding, arguments: jsonObject }),
  z.object({ type: z.literal("decline"), ...binding, message: z.string().optional() }),
]);

type RefusalReason = "malformed" | "wrong_id" | "wrong_fingerprint" | "replayed" | "expired";

/** Result of {@link decide}: the decision, or the reason why the answer does not count. */
export type Verdict =
  | { readonly accepted: true; readonly decision: ApprovalDecision }
  | { readonly accepted: false; readonly reason: RefusalReason; readonly message: string };

/** Ids of decided requests, with the time (ms) after which they may be forgotten. */
export type SpentRequests = Map<string, number>;

/**
 * Judges an answer to `request`: it counts only for the same id and fingerprint, once, before expiry.
 * Whatever an approver returned may be passed; anything that is not a decision is `malformed`. An accepted decision is
 * entered in `spent`. An accepted edit is not yet permission to send: the caller checks the new arguments and asks
 * again with a new fingerprint unless they pass unchanged, character for character as the human typed them, with the
 * same files on the same connection.
 */
export function decide(
  request: ApprovalRequest,
  answer: unknown,
  options: { readonly now: number; readonly spent: SpentRequests },
): Verdict {
  const parsed = decisionSchema.safeParse(answer);
  if (!parsed.success) return refuse("malformed", "The answer is not a decision.");
  const decision: ApprovalDecision = parsed.data;
  if (decision.id !== request.id) return refuse("wrong_id", "The answer belongs to another request.");
  if (decision.fingerprint !== request.fingerprint) {
    return refuse("wrong_fingerprint", "The answer was given for other arguments, files or another account.");
  }
  if (options.spent.has(request.id)) return refuse("replayed", "The answer was already used.");
  const expiresAt = Date.parse(request.expiresAt);
  if (!(options.now < expiresAt)) return refuse("expired", "The answer came after the request had expired.");
  forgetExpired(options.spent, options.now);
  options.spent.set(request.id, expiresAt);
  return { accepted: true, decision };
}

/** Stops at the first entry that is still valid, so that many open requests cost nothing. */
function forgetExpired(spent: SpentRequests, now: number): void {
  for (const [id, until] of spent) {
    if (until > now) return;
    spent.delete(id);
  }
}

function refuse(reason: RefusalReason, message: string): Verdict {
  return { accepted: false, reason, message };
}
