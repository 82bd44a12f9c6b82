import type { SvcClient } from "../client/client.ts";
import type { MediaRoots } from "../media/open/roots.ts";
import type { SchemaProfile } from "../schema/project/project-schema.ts";
import type { Approver, SpentRequests } from "./ask/request.ts";
import type { ConnectionMemory, StandingRules } from "./ask/standing-rules.ts";
import type { CallQueue, CallTurn } from "./call-queue.ts";
import type { ToolCatalog } from "./catalog/catalog.ts";
import type { Pins } from "./catalog/pins.ts";
import type { CallJournal, Journal } from "./journal/journal.ts";
import type { ConnectionChoice, ToolOutcome } from "./outcome.ts";
import type { ResultStore } from "./results.ts";
import type { SessionEvent } from "./session-events.ts";

/** Ways to put a question before a human. */
export interface HumanChannel {
  /** Asked before every call that may change something; without it such calls end as `needs_approval`. */
  readonly approve?: Approver | undefined;
  /** Asked when an app has several accounts and no default one; without it the outcome lists them. */
  readonly chooseConnection?: ConnectionChooser | undefined;
  /**
   * Shows the link when an app must be connected or reconnected; the call waits and then continues. Without it such
   * calls end as `needs_connection`.
   */
  readonly presentConnectLink?: ConnectPresenter | undefined;
}

/** One call from a runtime. Its own human channel replaces the session's. */
export interface ToolCall extends HumanChannel {
  /** The runtime's id of this call. Equal id and arguments mean the same call, repeated after a crash or a re-run. */
  readonly callId: string;
  readonly toolName: string;
  /** An object, or its JSON text, as some models write it. */
  readonly arguments: unknown;
  /** The account to use, chosen by a human or by `svc_call_tool`, never read from the arguments. */
  readonly connectionId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The host's choice of accounts, by integration; `connectionId` overrides it. */
  readonly connections?: Readonly<Record<string, string>> | undefined;
  /** Used instead of the session's memory of accounts. */
  readonly memory?: ConnectionMemory | undefined;
  readonly journal?: CallJournal | undefined;
  /**
   * Set in a runtime that repeats the whole call after each answer and stores the answers itself: equal questions then
   * keep their id, and their answers count every time. `until_declined`: a call that was declined stays so. Default false.
   */
  readonly keepsAnswers?: boolean | "until_declined" | undefined;
  /** Milliseconds a request for approval stays open. Overrides the session's setting. */
  readonly approvalTtlMs?: number | undefined;
  /**
   * For a runtime whose call ids mean nothing to another process. An equal call that waits for the owner of the service is
   * continued. `waitMs`: how long one call waits for the owner.
   */
  readonly resumesHeld?: { readonly waitMs: number } | undefined;
  /** @internal For a runtime that does something else before the call: its place among the calls that were made. */
  readonly turn?: CallTurn | undefined;
  /** @internal For a runtime that has asked before: the number of the turn in which it did. */
  readonly place?: number | undefined;
  /**
   * @internal For a call with a yes, or an edit, to an earlier question: the account, and the stamp of its last failure when
   * the question was put; "" for none.
   */
  readonly asked?: { readonly account: string; readonly after: string; readonly isYes: boolean } | undefined;
}

/** Question to a human: the account of an app for one call. */
export interface ConnectionQuestion {
  readonly toolName: string;
  readonly integration: string;
  readonly choices: readonly ConnectionChoice[];
}

/** The human's choice. A bare id is remembered for the integration during the session. */
export type ConnectionAnswer =
  | string
  | {
      readonly id: string;
      /** True to use this account from now on; otherwise the choice counts for this call only. */
      readonly remember: boolean;
    };

/** Lets a human choose an account; undefined when they choose none. */
export type ConnectionChooser = (
  question: ConnectionQuestion,
  options: { readonly signal: AbortSignal },
) => Promise<ConnectionAnswer | undefined>;

/** Where a human connects an app, or signs in to it again. */
export interface ConnectLink {
  readonly toolName: string;
  readonly integration: string;
  readonly url: string;
  /** True when the app is connected and its sign-in has expired. */
  readonly isReconnect: boolean;
}

/**
 * The result of showing a link. `connected`: the human says it is done, retry the call now · true: wait until the app
 * is healthy, then retry the call · false: end the call as `needs_connection`.
 */
export type ConnectAnswer = boolean | "connected";

/**
 * Shows a human the link. It may take as long as the human does: the app is polled meanwhile, and `signal` fires when
 * it is healthy or the time is over.
 */
export type ConnectPresenter = (link: ConnectLink, options: { readonly signal: AbortSignal }) => Promise<ConnectAnswer>;

/**
 * Moves parts of a result that the runtime stores elsewhere, such as file bytes, out of it; its notes join the outcome.
 */
export type ResultReceiver = (
  result: unknown,
  options: { readonly signal: AbortSignal | undefined },
) => Promise<{ readonly result: unknown; readonly notes: readonly string[] }>;

/** How file bytes travel: inside the request, or uploaded first by the service's hint. */
export type UploadMode = "envelope" | "ingest";

/**
 * Effect of a failed local check of the arguments. advise: refused once, sent when repeated unchanged · strict: always
 * refused · off: not checked.
 */
export type ValidationMode = "advise" | "strict" | "off";

/** Settings that all calls of a session share, with the defaults filled in. */
export interface PipelineSettings {
  /** Default `envelope`. */
  readonly upload: UploadMode;
  /** Default `advise`. */
  readonly validation: ValidationMode;
  /** The model family the schemas are projected for. Default `full`. */
  readonly profile: SchemaProfile;
  /**
   * when_known, the default: a write without files goes through `POST /api/executions` under an idempotency key when
   * the service's description of the tool promises to keep keys; for an account other than the default one, only if it
   * also says that a request may name its account · off: never.
   */
  readonly idempotencyKeys: "when_known" | "off";
  /** Milliseconds a request for approval stays open, at most 24 days. Default 10 minutes. */
  readonly approvalTtlMs: number;
  /** Milliseconds to wait while a human connects an app, at most 24 days. Default 10 minutes. */
  readonly connectTimeoutMs: number;
  /** Milliseconds for one request, all its tries included. Default: the client's. */
  readonly timeoutMs: number;
}

/** The parts of a session that its calls use. */
export interface Pipeline extends HumanChannel {
  readonly client: SvcClient;
  readonly catalog: ToolCatalog;
  readonly roots: MediaRoots;
  readonly journal: Journal;
  readonly rules: StandingRules;
  readonly pins: Pins;
  readonly results: ResultStore;
  readonly settings: PipelineSettings;
  readonly receiveResult: ResultReceiver | undefined;
  readonly spent: SpentRequests;
  /** Calls that the local check refused: when repeated unchanged they are sent. */
  readonly advised: Set<string>;
  /** Accounts that a human chose permanently. */
  readonly memory: ConnectionMemory;
  /** Accounts that a human chose for the session, by integration. */
  readonly chosen: Map<string, string>;
  /** Number of ended executions per idempotency key, so that a retry of the call gets a new key. */
  readonly endedKeys: Map<string, number>;
  /** Calls in progress, so that a call made twice at the same time runs once. */
  readonly running: Map<string, Promise<ToolOutcome>>;
  readonly queue: CallQueue;
  readonly emit: (event: SessionEvent) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
}
