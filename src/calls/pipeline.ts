import type { SvcClient } from "../client/client.ts";
import type { SvcError } from "../errors.ts";
import type { MediaRoots } from "../media/open/roots.ts";
import type { InspectedFile } from "../media/send/inspect-files.ts";
import type { SchemaProfile } from "../schema/project/project-schema.ts";
import type { SpentRequests } from "./ask/decide.ts";
import type { Approver } from "./ask/request.ts";
import type { StandingRules } from "./ask/standing-rules.ts";
import type { ToolCatalog } from "./catalog/catalog.ts";
import type { CatalogEntry } from "./catalog/catalog-entry.ts";
import type { Pins } from "./catalog/pins.ts";
import type { CallJournal, Journal } from "./journal/journal.ts";
import type { ConnectionChoice, OutcomeDetails, ToolOutcome } from "./outcome.ts";
import type { ResultStore } from "./results.ts";
import type { SessionEvent } from "./session-events.ts";
import type { ConnectPresenter } from "./steps/await-connection.ts";
import type { ConnectionMemory } from "./steps/connection-memory.ts";

/** One call as a runtime hands it over. */
export interface ToolCall {
  /** The runtime's id of this call; equal id and arguments mean the same call, made again after a crash or a re-run. */
  readonly callId: string;
  /** Full tool name. */
  readonly toolName: string;
  /** An object, or its JSON text, as some models write it. */
  readonly arguments: unknown;
  /** The account to use, chosen by a human or by `svc_call_tool`, never read from the arguments. */
  readonly connectionId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Asked instead of the session's approver. */
  readonly approve?: Approver | undefined;
  /** Asked instead of the session's chooser. */
  readonly chooseConnection?: ConnectionChooser | undefined;
  /** Shown connect links instead of the session's presenter. */
  readonly presentConnectLink?: ConnectPresenter | undefined;
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

/** Takes what a runtime keeps elsewhere, such as the bytes of files, out of a result; the notes go into the outcome. */
export type ResultReceiver = (
  result: unknown,
  options: { readonly signal: AbortSignal | undefined },
) => Promise<{ readonly result: unknown; readonly notes: readonly string[] }>;

/** How file bytes travel: inside the request, or uploaded first by the service's hint. */
export type UploadMode = "envelope" | "ingest";

/** What a failed local check of the arguments means; see {@link PipelineSettings.validation}. */
export type ValidationMode = "advise" | "strict" | "off";

/** Settings that every call of a session shares. */
export interface PipelineSettings {
  readonly upload: UploadMode;
  /** advise: refused once, sent when repeated unchanged · strict: always refused · off: not checked. */
  readonly validation: ValidationMode;
  /** Which model family the schemas are shown to. */
  readonly profile: SchemaProfile;
  /**
   * when_known: a write without files goes through `POST /api/executions` under an idempotency key when the service's
   * description of the tool promises to keep one; on another account than the default one when it says that a request may
   * name it · off: never.
   */
  readonly idempotencyKeys: "when_known" | "off";
  /** Milliseconds a request for approval stays open. */
  readonly approvalTtlMs: number;
  /** Milliseconds to wait for a human who connects an app. */
  readonly connectTimeoutMs: number;
  /** Milliseconds for one request; undefined leaves it to the client. */
  readonly timeoutMs: number | undefined;
}

/** What the steps work with. */
export interface Pipeline {
  readonly client: SvcClient;
  readonly catalog: ToolCatalog;
  readonly roots: MediaRoots;
  readonly journal: Journal;
  readonly rules: StandingRules;
  readonly pins: Pins;
  readonly results: ResultStore;
  readonly settings: PipelineSettings;
  readonly approve: Approver | undefined;
  readonly chooseConnection: ConnectionChooser | undefined;
  readonly presentConnectLink: ConnectPresenter | undefined;
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

/** A call on its way through the steps; each step returns a changed copy. */
export interface CallPlan {
  readonly entry: CatalogEntry;
  /** Final arguments; files as the caller referred to them. This is what a human approves. */
  readonly arguments: Record<string, unknown>;
  readonly files: readonly InspectedFile[];
  readonly connectionId: string | undefined;
  /** True when a human must have approved before the call is sent. */
  readonly mustAsk: boolean;
  /** Shown to the human as the reason, when the service asked for the confirmation itself. */
  readonly askReason: string | undefined;
  /** Fingerprint a human (or a standing rule) said yes to. */
  readonly approved: string | undefined;
  readonly upload: UploadMode;
  /** Storage keys of files already uploaded, by the reference of the file. */
  readonly uploaded: ReadonlyMap<string, string>;
  readonly notes: readonly string[];
}

/**
 * How a tool of the plugin itself is planned and sent. Its calls are asked about, sent once and remembered like those of
 * the service's tools. They have no pin and no standing permission, and cannot be edited.
 */
export interface OwnSend {
  /** Reads what would happen now. It is shown to the human and read again after the yes: it must still be the same. */
  plan(): Promise<Step<OwnPlan>>;
  /** Acts. Throws SvcError for a refusal and a lost answer. */
  send(): Promise<OwnAnswer>;
  /** True when a request that ended with this error may have acted. */
  mayHaveActed(error: SvcError): boolean;
  /** Watches what was begun until it rests; undefined when it cannot be watched. */
  follow(id: string): Promise<ToolOutcome | undefined>;
  describeError(error: SvcError): OutcomeDetails;
  /** Hint for a call whose answer was lost. */
  readonly howToCheck: string;
}

/** What a call of an own tool would do, as a human sees it. */
interface OwnPlan {
  readonly title: string;
  readonly description: string;
  readonly reason: string;
  readonly account?: ConnectionChoice | undefined;
  readonly arguments: Record<string, unknown>;
}

/** A success, and the id of what was begun by it: it goes on and is watched. */
export interface OwnAnswer {
  readonly outcome: ToolOutcome;
  readonly watching: string;
}

/** A step's result: go on with the plan, or stop with an outcome. */
export type Step<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly outcome: ToolOutcome };

/** Goes on. */
export function proceed<T>(value: T): Step<T> {
  return { ok: true, value };
}

/** Stops. */
export function stop<T>(outcome: ToolOutcome): Step<T> {
  return { ok: false, outcome };
}
