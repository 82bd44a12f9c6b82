import { join } from "node:path";
import { createEmitter } from "../../shared/base/concurrency.ts";
import { SvcClient } from "../client/client.ts";
import { sleepFor } from "../client/retry.ts";
import { createMediaRoots, type MediaFolder, type PrivateFolder } from "../media/open/roots.ts";
import type { SchemaProfile } from "../schema/project/project-schema.ts";
import type { Approver } from "./ask/request.ts";
import { createCallSeal } from "./ask/sealed-call.ts";
import {
  type ConnectionMemory,
  createConnectionMemory,
  createStandingRules,
  type StandingRules,
} from "./ask/standing-rules.ts";
import { CallQueue, type CallTurn } from "./call-queue.ts";
import { createCatalog, type ToolCatalog } from "./catalog/catalog.ts";
import { type AllowedTools, limitCatalog, readAllowed } from "./catalog/limit-catalog.ts";
import { openPins, type PinMode, type Pins } from "./catalog/pins.ts";
import {
  type ContinueAnswer,
  type ContinuedCall,
  type ContinueOptions,
  createContinuation,
  type PreparedCall,
} from "./continue.ts";
import { createFlowTools } from "./flows/flow-tools.ts";
import { type Journal, openJournal } from "./journal/journal.ts";
import { openStateFile } from "./journal/state-file.ts";
import type { ToolOutcome } from "./outcome.ts";
import type { HumanChannel, Pipeline, PipelineSettings, ResultReceiver, ToolCall } from "./pipeline.ts";
import { createResultStore, type ResultPage, type ResultQuery } from "./results.ts";
import { type OpenQuestion, runTool } from "./run.ts";
import type { SessionEvent } from "./session-events.ts";
import { readSettings } from "./session-settings.ts";
import { createStaticTools, type StaticTool } from "./static-tools.ts";

/** Settings of {@link createToolSession}: a client, or an address and key to create one. */
export type ToolSessionOptions = SessionSettings &
  (
    | { readonly client: SvcClient }
    | { readonly baseUrl: string; readonly apiKey: string; readonly principal?: string | undefined }
  );

type Choices<Settings> = { readonly [Name in keyof Settings]?: Settings[Name] | undefined };

/** Settings of a session besides its client; all may be left out. */
export interface SessionSettings extends Choices<PipelineSettings>, Omit<HumanChannel, "approve"> {
  /**
   * Asked before every call that may change something. `owner`: nobody is asked here; the service holds such calls for its
   * owner's inbox, and they end with the owner's decision. Without it they end as `needs_approval`.
   */
  readonly approve?: Approver | "owner" | undefined;
  /** The tools allowed to the model: all others are neither listed, found, described nor run. Default: all. */
  readonly allow?: AllowedTools | undefined;
  /** Folders from which local files may be read, whole or in part; default none. */
  readonly mediaRoots?: readonly (string | MediaFolder)[] | undefined;
  /** Folders of the runtime that no media root may contain, or lie in except as they allow; default none. */
  readonly privateFolders?: readonly PrivateFolder[] | undefined;
  /** Single files outside the roots that a human named by absolute path; default none. */
  readonly mediaFiles?: readonly string[] | undefined;
  /**
   * Folder (created 0700) for journal, standing permissions and chosen accounts (`state.db`), the tool cache and large
   * results. Without it they live in memory, and after a crash sent calls are unknown.
   */
  readonly stateDir?: string | undefined;
  /** File of the pinned tools. Default `tools.lock.json` in `stateDir`. */
  readonly pinFile?: string | undefined;
  /** Treatment of tools that are new or changed since they were pinned. Default `ask` once there is a pin file. */
  readonly pinning?: PinMode | undefined;
  /** Longest JSON text of a result that is shown whole. Default 24,000 characters. */
  readonly maxResultChars?: number | undefined;
  /** Applied to every successful result before it is cut to size; a failing receiver changes nothing. */
  readonly receiveResult?: ResultReceiver | undefined;
  /**
   * Called at once for each {@link SessionEvent}, and not awaited. Its errors and rejections are dropped without a
   * report: catch them inside if you need them. Default none.
   */
  readonly onEvent?: ((event: SessionEvent) => void) | undefined;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Default: a timer. */
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
  /** From 0 up to 1. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/** One host's access to the user's tools: catalogue, pipeline and their state. */
export interface ToolSession {
  readonly client: SvcClient;
  readonly catalog: ToolCatalog;
  /** svc_search_tools, svc_describe_tool, svc_call_tool, svc_read_result, svc_status. */
  readonly staticTools: readonly StaticTool[];
  /** Tools for flows; start, approve and resume run like any call. Empty when `allow` excludes them. */
  readonly flowTools: readonly StaticTool[];
  readonly rules: StandingRules;
  readonly journal: Journal;
  /** Accounts that a human chose permanently, by integration. */
  readonly memory: ConnectionMemory;
  readonly pins: Pins;
  readonly profile: SchemaProfile;
  /** Non-secret id of service and key. */
  readonly principal: string;
  /** @internal Takes a place among the calls that are made, or one a call had, for what a runtime does before a call. */
  takeTurn(place?: number): CallTurn;
  /** Runs one tool through the pipeline. Throws only AbortError and a runtime's control flow. */
  call(call: ToolCall): Promise<ToolOutcome>;
  /**
   * Plans a call up to its first question, for a human who answers later or elsewhere. Nothing is sent or written. Some
   * questions are not known beforehand: the service may object later.
   */
  prepare(call: ToolCall): Promise<PreparedCall>;
  /** @internal The first question of a call, for a runtime that keeps its answers. Nothing is sent or written. */
  preview(call: ToolCall): Promise<OpenQuestion | undefined>;
  /** A prepared call as it was prepared; undefined for a text that is no `state` of this service, key and state folder, or of another call than `expected`. */
  reopen(state: string, expected?: ContinueOptions["expected"]): Promise<PreparedCall | undefined>;
  /**
   * Runs a prepared call, or ends it, as the human answered; also in another process. The same `state` never makes a call
   * twice: it is answered with what came of it. Throws like `call`.
   */
  continue(state: string, answer?: ContinueAnswer, options?: ContinueOptions): Promise<ContinuedCall>;
  /** Reads the next part of a result that was too large; undefined when it is no longer stored. */
  readResult(page: ResultQuery): Promise<ResultPage | undefined>;
  /** Writes the cache and closes the session's resources; a client that was passed in stays open. */
  close(): Promise<void>;
}

/**
 * Opens a session. Nothing is sent until `catalog.load`, `catalog.sync` or a call.
 *
 * @throws SvcError `invalid_config` for a bad address, a setting that does not exist or cannot have its value, a bad
 * media root or state folder
 */
export async function createToolSession(options: ToolSessionOptions): Promise<ToolSession> {
  const { now = Date.now, stateDir, mediaRoots = [], mediaFiles = [], privateFolders = [] } = options;
  const settings = readSettings(options);
  const allowed = readAllowed(options);
  const isOwnClient = !("client" in options);
  const roots = await createMediaRoots(mediaRoots, { files: mediaFiles, privateFolders });
  const client = isOwnClient ? openClient(options) : options.client;
  const emit = createEmitter((event: SessionEvent) => options.onEvent?.(event));
  const state = stateDir ? await openStateFile(stateDir) : undefined;
  const journal = await openJournal(state, { now });
  const known = createCatalog({ client, cacheDir: stateDir && join(stateDir, "catalog"), now, onEvent: emit });
  const catalog = allowed === undefined ? known : limitCatalog(known, allowed);
  const { maxResultChars: maxChars } = options;
  const results = createResultStore({ folder: stateDir && join(stateDir, "results"), maxChars, now });
  const pinFile = options.pinFile ?? (stateDir && join(stateDir, "tools.lock.json"));
  const pipeline: Pipeline = {
    client,
    catalog,
    roots,
    journal,
    rules: createStandingRules(state, { now }),
    pins: await openPins({ file: pinFile, mode: options.pinning, service: client.baseUrl, now }),
    memory: createConnectionMemory(state),
    results,
    settings: { ...settings, timeoutMs: options.timeoutMs ?? client.timeoutMs },
    approve: options.approve === "owner" ? undefined : options.approve,
    chooseConnection: options.chooseConnection,
    presentConnectLink: options.presentConnectLink,
    receiveResult: options.receiveResult,
    ...startMemory(),
    emit,
    now,
    sleep: options.sleep ?? sleepFor,
    random: options.random ?? Math.random,
  };
  const call = (one: ToolCall) => runTool(pipeline, one);
  const { profile } = settings;
  const staticTools = createStaticTools({ client, catalog, results, profile, runTool: call });
  const flowTools = allowed === undefined || allowed.flows === true ? createFlowTools(pipeline) : [];
  const seal = createCallSeal(state, client.principal);
  const tools = [...staticTools, ...flowTools];
  return {
    client,
    catalog,
    journal,
    memory: pipeline.memory,
    rules: pipeline.rules,
    pins: pipeline.pins,
    profile,
    principal: client.principal,
    staticTools,
    flowTools,
    takeTurn: (place) => pipeline.queue.enter(place),
    call,
    ...createContinuation({ pipeline, seal, tools }),
    readResult: (page) => results.read(page),
    async close() {
      await catalog.close();
      state?.close();
      await roots.close();
      if (isOwnClient) await client.close();
    },
  };
}

/** What a session knows of its calls while it runs. */
function startMemory() {
  const running = { running: new Map(), queue: new CallQueue() };
  return { spent: new Map(), advised: new Set<string>(), chosen: new Map(), endedKeys: new Map(), ...running };
}

function openClient(
  options: { baseUrl: string; apiKey: string; principal?: string | undefined } & SessionSettings,
): SvcClient {
  const { baseUrl, apiKey, principal, timeoutMs } = options;
  return new SvcClient({ baseUrl, apiKey, principal, timeoutMs });
}
