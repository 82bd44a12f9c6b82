import { isDeepStrictEqual } from "node:util";
import { stopOnAbort } from "../../base/concurrency.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogEntry } from "../catalog/search-index.ts";
import type { Connection, Connections } from "../connections/connections.ts";
import type { AccessTokens, LiveSettings } from "../connections/sign-in/access-tokens.ts";
import type { ActionContext, HeldFile } from "../integrations/integration.ts";
import { type ActionResult, hideInError, hideInResult, pickSecretSettings } from "../secrets/secret-settings.ts";
import { ServiceError } from "../service-error.ts";
import type { ExecutionLog } from "./execution-log.ts";

/** Arguments whose file fields all carry storage keys, and the bytes behind them. */
export interface ResolvedFiles {
  readonly args: Record<string, unknown>;
  /** Throws for a key that is not in the arguments. */
  file(s3key: string): HeldFile;
}

/** A call that passed every check. */
export interface RunnableCall extends ResolvedFiles {
  readonly entry: CatalogEntry;
  readonly connection: Connection;
  readonly keepFile: NonNullable<ActionContext["keepFile"]>;
  readonly clientGone: AbortSignal;
}

/** Parts that {@link runAction} needs. */
export interface RunParts {
  /** Undefined where no integration signs in by OAuth2. */
  readonly accessTokens?: AccessTokens;
  readonly now: () => number;
  /** Milliseconds a provider may take before the call fails. */
  readonly providerTimeoutMs: number;
}

/**
 * Lets the provider act, within a time limit. A read stops when the caller goes away; a write, once started, is
 * allowed to finish so that its result is recorded.
 *
 * @throws whatever the action throws; ServiceError 503 `timeout`, 500 `bad_result`.
 */
export async function runAction(parts: RunParts, call: RunnableCall): Promise<ActionResult> {
  const { entry, connection, args } = call;
  let isBegun = false;
  const timeout = AbortSignal.timeout(parts.providerTimeoutMs);
  const signal = entry.action.level === "read" ? AbortSignal.any([timeout, call.clientGone]) : timeout;
  try {
    await stopOnAbort(entry.integration.checkSettings(connection.settings), signal);
    const { file, keepFile } = call;
    const context = { file, keepFile, signal, now: parts.now };
    const act = async (settings: Connection["settings"]) => {
      // The sign-in may have outlasted the call, which was answered by then.
      signal.throwIfAborted();
      isBegun = true;
      try {
        const given = await entry.action.run(args, { ...context, connection: { ...connection, settings } });
        return hideInResult(serialise(given), pickSecretSettings(entry.integration, settings, connection.settings));
      } catch (error) {
        throw hideInError(error, entry.integration, settings, connection.settings);
      }
    };
    return await stopOnAbort(signIn(parts, { entry, connection }, act), signal);
  } catch (error) {
    if (timeout.aborted) throw timedOut(entry, { isBegun, cause: error });
    if (signal.aborted) throw new ServiceError(503, "client_gone", "The caller went away.", { cause: error });
    throw error;
  }
}

/** Acts with an access token that is still good; a refused one is renewed once, since nothing has been done with it. */
async function signIn<Result>(
  { accessTokens }: RunParts,
  { entry, connection }: Pick<RunnableCall, "entry" | "connection">,
  act: (settings: Connection["settings"]) => Promise<Result>,
): Promise<Result> {
  const live: LiveSettings | undefined = await accessTokens?.provide(entry.integration, connection.settings);
  if (live === undefined) return act(connection.settings);
  try {
    return await act(live.settings);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 401) throw error;
    const settings = await live.renew();
    if (settings === undefined) throw error;
    return await act(settings);
  }
}

function timedOut({ action }: CatalogEntry, { isBegun, cause }: { isBegun: boolean; cause: unknown }): ServiceError {
  const isRepeatable = !isBegun || action.level === "read" || action.idempotent;
  return new ServiceError(503, "timeout", `"${action.title}" took too long.`, {
    type: "network",
    retryable: isRepeatable,
    hint: isRepeatable
      ? "Try again later."
      : "It may still have taken effect: check with a read before sending it again.",
    cause,
  });
}

function serialise(result: unknown): ActionResult {
  const value = result === undefined ? null : result;
  const refuse = (cause?: unknown) =>
    new ServiceError(500, "bad_result", "The action returned something that is not JSON.", { type: "provider", cause });
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch (cause) {
    throw refuse(cause);
  }
  if (json === undefined) throw refuse();
  return { value, json };
}

/** How long the app may take to answer the check, in milliseconds. */
const CHECK_MS = 10_000;
/** How long a sign-in that was found good is not checked again, in milliseconds. */
const FRESH_MS = 60_000;

/** A call that reached its app. */
interface ReachedCall {
  readonly entry: CatalogEntry;
  readonly connection: Connection;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Tells the refusal of one operation from a sign-in that has ended. */
export interface SignInChecks {
  /**
   * The error to answer a failed call with. After a 401 the sign-in is checked: with the app's own check, else by a
   * read that succeeded before. Where it still holds, the operation alone was refused (403 `forbidden`) and the
   * connection stays as it is; otherwise the connection asks for a new sign-in.
   */
  judge(error: ServiceError, call: ReachedCall): Promise<ServiceError>;
  /** Marks the connection of a successful call as healthy, if {@link SignInChecks.judge} had marked it otherwise. */
  succeeded(call: ReachedCall): Promise<void>;
}

interface CheckParts {
  readonly catalog: Catalog;
  readonly connections: Connections;
  readonly accessTokens?: AccessTokens;
  readonly log: Pick<ExecutionLog, "listReads" | "hasSucceeded">;
  readonly now: () => number;
}

type Verdict = "holds" | "ended" | "unknown";

/** Creates the checks of one process. */
export function createSignInChecks(parts: CheckParts): SignInChecks {
  const fresh = new Map<string, { readonly until: number; readonly settings: Connection["settings"] }>();
  /** Tools that were refused since a call of the connection succeeded. */
  const refused = new Map<string, Set<string>>();
  const ended = new Set<string>();

  async function check(call: ReachedCall): Promise<Verdict> {
    const { id, settings } = call.connection;
    const known = fresh.get(id);
    if (known !== undefined && known.until > parts.now() && isDeepStrictEqual(known.settings, settings)) return "holds";
    fresh.delete(id);
    const verdict = await checkNow(parts, call, refused.get(id)?.size ?? 0);
    if (verdict === "holds") fresh.set(id, { until: parts.now() + FRESH_MS, settings });
    return verdict;
  }

  return {
    async judge(error, call) {
      if (error.status !== 401) return error;
      const { id } = call.connection;
      refused.set(id, (refused.get(id) ?? new Set()).add(call.entry.toolName));
      const verdict = await check(call).catch(() => "unknown");
      if (verdict !== "ended") return refuseAlone(error, call.entry);
      ended.add(id);
      await setState(parts.connections, call.connection, "reauth_required");
      return error;
    },

    async succeeded({ connection }) {
      refused.delete(connection.id);
      if (ended.delete(connection.id)) await setState(parts.connections, connection, "healthy");
    },
  };
}

async function checkNow(parts: CheckParts, call: ReachedCall, refusals: number): Promise<Verdict> {
  const { integration } = call.entry;
  const signal = AbortSignal.timeout(CHECK_MS);
  const live = async () => {
    const provided = await parts.accessTokens?.provide(integration, call.connection.settings);
    return provided?.settings ?? call.connection.settings;
  };
  if (integration.testSettings !== undefined) {
    const test = async () => integration.testSettings?.(await live(), signal);
    return readVerdict(stopOnAbort(test(), signal));
  }
  const known = await parts.log.listReads(call.connection.id);
  for (const { toolName, args } of known) {
    // The same call as before, which is refused now.
    if (toolName === call.entry.toolName && isDeepStrictEqual(args, call.args)) return "ended";
    const entry = parts.catalog.find(toolName);
    if (entry?.integration.slug !== integration.slug || entry.action.level !== "read") continue;
    const context = { file: haveNoFile, signal, now: parts.now };
    const read = async () =>
      entry.action.run(args, { ...context, connection: { ...call.connection, settings: await live() } });
    return readVerdict(stopOnAbort(read(), signal));
  }
  // Nothing to repeat: one that never worked has no good sign-in, and two operations are not refused by chance.
  if (refusals > 1) return "ended";
  return (await parts.log.hasSucceeded(call.connection.id)) ? "unknown" : "ended";
}

async function readVerdict(checked: Promise<unknown>): Promise<Verdict> {
  try {
    await checked;
    return "holds";
  } catch (error) {
    if (!(error instanceof ServiceError)) return "unknown";
    if (error.status === 401 || error.code === "integration_misconfigured") return "ended";
    // An app that finds fault with arguments has let its caller in.
    return error.status === 400 || error.status === 404 || error.status === 409 ? "holds" : "unknown";
  }
}

function haveNoFile(): HeldFile {
  throw new ServiceError(400, "missing_file_bytes", "There is no file.");
}

function refuseAlone({ message, options }: ServiceError, { action, integration }: CatalogEntry): ServiceError {
  return new ServiceError(403, "forbidden", message, {
    ...options,
    type: "auth",
    hint: `${integration.name} refused "${action.title}"; other calls of this account work. It may lack a right for it: try other arguments, or ask the user.`,
  });
}

/** What was refused are the settings of the call: a connection that has others by now, or is gone, is left as it is. */
async function setState(
  connections: Connections,
  { id, settings }: Connection,
  state: "healthy" | "reauth_required",
): Promise<void> {
  try {
    await connections.update(id, { state }, settings);
  } catch (error) {
    // A store that is away must not change how the call ended; the next call tells it again.
    if (!(error instanceof ServiceError)) throw error;
  }
}
