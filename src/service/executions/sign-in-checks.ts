import { isDeepStrictEqual } from "node:util";
import type { HeldFile } from "../../apps/port/integration.ts";
import { stopOnAbort } from "../../shared/base/concurrency.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import type { Connection, Connections } from "../connections/connection.ts";
import { type AccessTokens, readSignInId } from "../connections/sign-in/access-tokens.ts";
import { ServiceError } from "../service-error.ts";
import type { ExecutionLog } from "./execution-log.ts";
import type { PreparedCall } from "./run-action.ts";

/** How long the app may take to answer the check, in milliseconds. */
const CHECK_MS = 10_000;
/** How long a sign-in that was found good is not checked again, in milliseconds. */
const FRESH_MS = 60_000;

/** A call that reached its app. */
type ReachedCall = Omit<PreparedCall, "file">;

/** Tells the refusal of one operation from a sign-in that has ended. */
export type SignInChecks = ReturnType<typeof createSignInChecks>;

interface CheckParts {
  readonly catalog: Catalog;
  readonly connections: Connections;
  readonly accessTokens?: AccessTokens;
  readonly log: Pick<ExecutionLog, "listReads" | "hasSucceeded">;
  readonly now: () => number;
}

type Verdict = "holds" | "ended" | "unknown";

/** Creates the checks of one process. */
export function createSignInChecks(parts: CheckParts) {
  const fresh = new Map<string, { readonly until: number; readonly settings: Connection["settings"] }>();
  /** Tools that were refused since a call of the connection succeeded. */
  const refused = new Map<string, Set<string>>();
  const ended = new Set<string>();

  async function check(call: ReachedCall): Promise<Verdict> {
    const { id, settings } = call.connection;
    const token = await readVerdict(provideSettings(parts, call));
    if (token !== "holds") return token;
    const known = fresh.get(id);
    if (known !== undefined && known.until > parts.now() && isDeepStrictEqual(known.settings, settings)) return "holds";
    fresh.delete(id);
    const verdict = await checkNow(parts, call, refused.get(id)?.size ?? 0);
    if (verdict === "holds") fresh.set(id, { until: parts.now() + FRESH_MS, settings });
    return verdict;
  }

  return {
    /**
     * The error to answer a failed call with. After a 401 the sign-in is checked: with the app's own check, else by a
     * read that succeeded before. Where it still holds, the operation alone was refused (403 `forbidden`) and the
     * connection stays as it is; otherwise the connection asks for a new sign-in. After `needs_scope_upgrade` it does so,
     * too, and the next sign-in asks for the scopes that were missing.
     */
    async judge(error: ServiceError, call: ReachedCall): Promise<ServiceError> {
      if (error.code === "needs_scope_upgrade") await askForScopes(parts, call.connection, error);
      if (error.status !== 401) return error;
      const { id } = call.connection;
      refused.set(id, (refused.get(id) ?? new Set()).add(call.entry.toolName));
      const verdict = await check(call).catch(() => "unknown");
      if (verdict !== "ended") return refuseAlone(error, call.entry);
      ended.add(id);
      await setState(parts.connections, call.connection, "reauth_required");
      return error;
    },

    /** Marks the connection of a successful call as healthy, if `judge` had marked it otherwise. */
    async succeeded({ connection }: ReachedCall): Promise<void> {
      refused.delete(connection.id);
      if (ended.delete(connection.id)) await setState(parts.connections, connection, "healthy");
    },
  };
}

/** The settings with an access token. Throws like {@link AccessTokens.provide}. */
async function provideSettings({ accessTokens }: CheckParts, { entry, connection }: ReachedCall) {
  const live = await accessTokens?.provide(entry.integration, connection.settings);
  return live?.settings ?? connection.settings;
}

async function checkNow(parts: CheckParts, call: ReachedCall, refusals: number): Promise<Verdict> {
  const { integration } = call.entry;
  const signal = AbortSignal.timeout(CHECK_MS);
  const live = () => provideSettings(parts, call);
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

/** A connection that is signed in at a provider asks there for the scopes that were missing. */
async function askForScopes({ accessTokens, connections }: CheckParts, connection: Connection, error: ServiceError) {
  if (accessTokens === undefined || readSignInId(connection.settings) === undefined) return;
  await orSkip(accessTokens.askForScopes(connection.settings, error.options.details ?? []));
  await setState(connections, connection, "reauth_required");
}

/** What was refused are the settings of the call: a connection that has others by now, or is gone, is left as it is. */
async function setState(
  connections: Connections,
  { id, settings }: Connection,
  state: "healthy" | "reauth_required",
): Promise<void> {
  await orSkip(connections.update(id, { state }, settings));
}

/** A store that is away must not change how the call ended; the next call tells it again. */
async function orSkip(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error;
  });
}
