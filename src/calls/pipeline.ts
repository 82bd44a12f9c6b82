import type { SvcClient } from "../client/client.ts";
import type { MediaRoots } from "../media/open/roots.ts";
import type { SchemaProfile } from "../schema/project/project-schema.ts";
import type { Approver, SpentRequests } from "./ask/request.ts";
import type { ConnectionMemory, StandingRules } from "./ask/standing-rules.ts";
import type { ToolCatalog } from "./catalog/catalog.ts";
import type { Pins } from "./catalog/pins.ts";
import type { CallJournal, Journal } from "./journal/journal.ts";
import type { ConnectionChoice, ToolOutcome } from "./outcome.ts";
import type { ResultStore } from "./results.ts";
import type { SessionEvent } from "./session-events.ts";

/** How a human is reached. */
export interface HumanChannel {
  /** Asked for every call that may change something; without one such calls end as `needs_approval`. */
  readonly approve?: Approver | undefined;
  readonly chooseConnection?: ConnectionChooser | undefined;
  /**
   * Shown the link when an app must be connected, or connected again; the call then waits and goes on by itself. Without
   * it such calls end as `needs_connection`.
   */
  readonly presentConnectLink?: ConnectPresenter | undefined;
}

/** One call as a runtime hands it over. Its own human is asked instead of the session's. */
export interface ToolCall extends HumanChannel {
  /** The runtime's id of this call; equal id and arguments mean the same call, made again after a crash or a re-run. */
  readonly callId: string;
  /** Full tool name. */
  readonly toolName: string;
  /** An object, or its JSON text, as some models write it. */
  readonly arguments: unknown;
  /** The account to use, chosen by a human or by `svc_call_tool`, never read from the arguments. */
  readonly connectionId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The host's own choice of accounts, by integration; `connectionId` wins over it. */
  readonly connections?: Readonly<Record<string, string>> | undefined;
  /** Used instead of the session's memory of accounts. */
  readonly memory?: ConnectionMemory | undefined;
  /** Used instead of the session's journal. */
  readonly journal?: CallJournal | undefined;
  /**
   * True in a runtime that makes the whole call again after each answer and keeps the answers itself: the same question
   * then has the same id each time, and its answer counts each time. Default false.
   */
  readonly keepsAnswers?: boolean | undefined;
  /** Milliseconds a request for approval stays open, instead of the session's. */
  readonly approvalTtlMs?: number | undefined;
}

/** A question to the human: which account? */
export interface ConnectionQuestion {
  readonly toolName: string;
  readonly integration: string;
  readonly choices: readonly ConnectionChoice[];
}

/** What a human chose. A bare id is remembered for the integration while the session lasts. */
export type ConnectionAnswer =
  | string
  | {
      readonly id: string;
      /** True when the human wants this account from now on; otherwise it counts for this call only. */
      readonly remember: boolean;
    };

/** Lets a human choose an account; undefined means: none. */
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
 * What became of a shown link. `connected`: a human says that it is done, make the call again now · true: wait until the
 * app is healthy, then make the call again · false: end the call as `needs_connection`.
 */
export type ConnectAnswer = boolean | "connected";

/**
 * Shows a human the link. May take as long as the human does: the app is looked at meanwhile, and `signal` fires when it
 * is healthy or the time is over.
 */
export type ConnectPresenter = (link: ConnectLink, options: { readonly signal: AbortSignal }) => Promise<ConnectAnswer>;

/** Takes what a runtime keeps elsewhere, such as the bytes of files, out of a result; the notes go into the outcome. */
export type ResultReceiver = (
  result: unknown,
  options: { readonly signal: AbortSignal | undefined },
) => Promise<{ readonly result: unknown; readonly notes: readonly string[] }>;

/** How file bytes travel: inside the request, or uploaded first by the service's hint. */
export type UploadMode = "envelope" | "ingest";

/**
 * What a failed local check of the arguments means. advise: refused once, sent when repeated unchanged · strict: always
 * refused · off: not checked.
 */
export type ValidationMode = "advise" | "strict" | "off";

/** Settings that every call of a session shares. */
export interface PipelineSettings {
  /** How file bytes travel. Default `envelope`. */
  readonly upload: UploadMode;
  /** Default `advise`. */
  readonly validation: ValidationMode;
  /** Which model family the schemas are shown to. Default `full`. */
  readonly profile: SchemaProfile;
  /**
   * when_known, the default: a write without files goes through `POST /api/executions` under an idempotency key when the
   * service's description of the tool promises to keep one; on another account than the default one when it says that a
   * request may name it · off: never.
   */
  readonly idempotencyKeys: "when_known" | "off";
  /** Milliseconds a request for approval stays open, at most 24 days. Default 10 minutes. */
  readonly approvalTtlMs: number;
  /** Milliseconds to wait for a human who connects an app, at most 24 days. Default 10 minutes. */
  readonly connectTimeoutMs: number;
  /** Milliseconds for one request. Default: the client's. */
  readonly timeoutMs: number | undefined;
}

/** What the steps work with. */
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
  /** Requests for approval that had their decision. */
  readonly spent: SpentRequests;
  /** Calls the local check refused: the same call again goes to the service. */
  readonly advised: Set<string>;
  /** Accounts a human wants for good. */
  readonly memory: ConnectionMemory;
  /** Accounts a human chose for the session, by integration. */
  readonly chosen: Map<string, string>;
  /** How many executions of a call have ended under its idempotency key, so that another try gets another key. */
  readonly endedKeys: Map<string, number>;
  /** Calls under way, so that the same call made twice at once runs once. */
  readonly running: Map<string, Promise<ToolOutcome>>;
  readonly emit: (event: SessionEvent) => void;
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
}
