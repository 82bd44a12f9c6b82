import { type ActionResult, hideInError, hideInResult, pickSecretSettings } from "../../apps/port/hide-secrets.ts";
import type { ActionContext, HeldFile, JudgeContext, PreviewContext } from "../../apps/port/integration.ts";
import type { PreviewDraft } from "../../apps/port/preview.ts";
import type { KeptWrite, Verdict } from "../../apps/port/undo.ts";
import type { RaisedLevel } from "../../shared/wire/call-level.ts";
import { type Preview, previewSchema } from "../../shared/wire/preview.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import type { Connection } from "../connections/connection.ts";
import type { AccessTokens, LiveSettings } from "../connections/sign-in/access-tokens.ts";
import { FILE_CHANGED } from "../files/checked-bytes.ts";
import { ServiceError } from "../service-error.ts";
import { type Trace, traceNothing } from "../telemetry/telemetry.ts";
import type { Looked } from "./preview-call.ts";

/** Arguments whose file fields all carry storage keys, and the bytes behind them. */
export interface ResolvedFiles {
  readonly args: Record<string, unknown>;
  /** Storage keys of the files among them that came with the call, or were fetched for it. */
  readonly stored: readonly string[];
  /** Throws for a key that is not in the arguments. */
  file(s3key: string): HeldFile;
}

/** A call that passed every check: only the provider is left. */
export interface PreparedCall extends ResolvedFiles {
  readonly entry: CatalogEntry;
  readonly connection: Connection;
  /** What whoever is asked about it is shown; undefined where nobody is asked. */
  readonly looked?: Looked | undefined;
  /** See `ActionContext`. */
  readonly expectedState?: string | undefined;
}

/** Parts that {@link runAction} needs. */
export interface RunParts {
  /** Undefined where no integration signs in by OAuth2. */
  readonly accessTokens?: AccessTokens;
  readonly now: () => number;
  /** Milliseconds a provider may take before the call fails. */
  readonly providerTimeoutMs: number;
  /** False where nothing is kept for undoing. Default true. */
  readonly canUndo?: boolean;
  /** Default: no spans. */
  readonly trace?: Trace;
}

/**
 * Lets the provider act, within a time limit. A read stops when the caller goes away; a write, once started, is
 * allowed to finish so that its result is recorded.
 *
 * @throws whatever the action throws; ServiceError 503 `timeout`, 500 `bad_result`.
 */
export function runAction(
  parts: RunParts,
  call: Omit<PreparedCall, "stored" | "looked"> &
    Required<Pick<ActionContext, "keepFile">> &
    Pick<ActionContext, "keep" | "leave"> & {
      readonly clientGone: AbortSignal;
      /** Told the work of the app, which may go on after its time limit. */
      readonly onActing?: (acting: Promise<unknown>) => void;
    },
): Promise<ActionResult> {
  const { entry, connection, args, keepFile, expectedState, keep, leave } = call;
  const kept = keep === undefined || leave === undefined ? {} : { keep, leave };
  const isRead = entry.action.level === "read";
  const { file, check } = watchFiles(call);
  const acted = withApp(parts, { ...call, isRead }, async (context) => {
    const traced = { name: entry.toolName, kind: "client", attributes: { "svc.app": entry.integration.slug } } as const;
    const given = await (parts.trace ?? traceNothing)(traced, async () => {
      const acting = entry.action.run(args, { ...context, ...kept, file, keepFile, expectedState });
      call.onActing?.(acting);
      return acting;
    });
    const secrets = pickSecretSettings(entry.integration, context.connection.settings, connection.settings);
    return hideInResult(serialise(given), secrets);
  });
  // However the app took it: a file that broke off before its end is why.
  return acted.finally(check);
}

/** Asks the app what a call would do to what is there now. Throws like {@link runAction}. */
export async function judgeByState(
  parts: RunParts,
  call: Pick<PreparedCall, "entry" | "connection" | "args"> & { readonly clientGone: AbortSignal },
): Promise<RaisedLevel | undefined> {
  const { action } = call.entry;
  if (action.judge === undefined) return undefined;
  return withApp(parts, { ...call, isRead: true }, async (context) => action.judge?.(call.args, context));
}

/** Lets the app look at what a call would do; undefined where it cannot tell. Throws like {@link runAction}. */
export async function previewByState(
  parts: RunParts,
  call: Pick<PreparedCall, "entry" | "connection" | "args"> &
    Pick<PreviewContext, "file"> & { readonly clientGone: AbortSignal },
  finish: (draft: PreviewDraft) => Preview,
): Promise<Preview | undefined> {
  const { entry, connection, args, file } = call;
  return withApp(parts, { ...call, isRead: true }, async (context) => {
    const draft = await entry.action.preview?.(args, { ...context, file });
    if (draft === undefined) return undefined;
    const secrets = pickSecretSettings(entry.integration, context.connection.settings, connection.settings);
    return previewSchema.parse(hideInResult(serialise(finish(draft)), secrets).value);
  });
}

/** Lets the app find out whether a write took effect; undefined where it never can. Throws like {@link runAction}. */
export async function settleByState(
  parts: RunParts,
  call: Pick<PreparedCall, "entry" | "connection"> & { readonly clientGone: AbortSignal },
  kept: KeptWrite,
): Promise<Verdict | undefined> {
  const { action } = call.entry;
  if (action.settle === undefined) return undefined;
  return withApp(parts, { ...call, isRead: true }, async (context) => action.settle?.(kept, context));
}

/** Signs in and uses an app within the time limit. */
async function withApp<Result>(
  parts: RunParts,
  o: Pick<PreparedCall, "entry" | "connection"> & { readonly clientGone: AbortSignal; readonly isRead: boolean },
  use: (context: JudgeContext) => Promise<Result>,
): Promise<Result> {
  const { entry, connection } = o;
  let isBegun = false;
  const deadline = startDeadline(parts.providerTimeoutMs, o.isRead ? o.clientGone : undefined);
  const { signal } = deadline;
  try {
    const act = async (settings: Connection["settings"]) => {
      // The sign-in may have outlasted the call, which was answered by then.
      signal.throwIfAborted();
      isBegun = !o.isRead;
      try {
        return await use({ signal, now: parts.now, connection: { ...connection, settings } });
      } catch (error) {
        throw hideInError(error, entry.integration, settings, connection.settings);
      }
    };
    const run = async () => {
      await entry.integration.checkSettings(connection.settings);
      signal.throwIfAborted();
      return signIn(parts, { entry, connection }, act);
    };
    return await Promise.race([run(), deadline.stopped]);
  } catch (error) {
    if (deadline.isOver()) throw timedOut(entry, { isBegun, cause: error, ms: parts.providerTimeoutMs });
    if (signal.aborted) throw new ServiceError(503, "client_gone", "The caller went away.", { cause: error });
    throw error;
  } finally {
    deadline.end();
  }
}

/** The files of a call; `check` throws once one of them turned out to be another than was stored. */
function watchFiles({ file }: Pick<ResolvedFiles, "file">) {
  let changed: ServiceError | undefined;
  const note = (error: unknown) => {
    if (error instanceof ServiceError && error.code === FILE_CHANGED) changed = error;
  };
  return {
    file(s3key: string): HeldFile {
      const held = file(s3key);
      return { ...held, open: () => held.open().once("error", note) };
    },
    check() {
      if (changed !== undefined) throw changed;
    },
  };
}

/**
 * A signal that is aborted after some milliseconds, and when the caller goes away, and a promise that is rejected then; cheaper
 * than joined signals.
 */
function startDeadline(ms: number, clientGone: AbortSignal | undefined) {
  const controller = new AbortController();
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = (reason: unknown) => {
    controller.abort(reason);
    reject(reason);
  };
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    stop(new DOMException("The app took too long.", "TimeoutError"));
  }, ms).unref();
  const leave = () => stop(clientGone?.reason);
  clientGone?.addEventListener("abort", leave, { once: true });
  if (clientGone?.aborted) leave();
  return {
    signal: controller.signal,
    stopped,
    isOver: () => isOver,
    end() {
      clearTimeout(timer);
      clientGone?.removeEventListener("abort", leave);
    },
  };
}

/** Acts with an access token that is still good; a refused one is renewed once, since nothing has been done with it. */
async function signIn<Result>(
  { accessTokens }: RunParts,
  { entry, connection }: Pick<PreparedCall, "entry" | "connection">,
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

function timedOut(
  { action, integration }: CatalogEntry,
  { isBegun, cause, ms }: { isBegun: boolean; cause: unknown; ms: number },
): ServiceError {
  const isRepeatable = !isBegun || action.level === "read" || action.idempotent;
  const span = ms < 1000 ? `${ms} ms` : `${Math.round(ms / 1000)} seconds`;
  return new ServiceError(503, "timeout", `${integration.name} gave no answer to "${action.title}" within ${span}.`, {
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
