import { ServiceError } from "../../service/service-error.ts";
import { hideCredential } from "../../shared/base/credential-name.ts";
import { isRecord, parseJson } from "../../shared/base/json.ts";
import { hideInResult, pickSecretSettings } from "../port/hide-secrets.ts";
import type { Action, ActionContext, JudgeContext } from "../port/integration.ts";
import type { SourceContent, StoredAction } from "../port/source-content.ts";
import { type ApiRequest, buildRequest } from "./build-request.ts";
import { type OpenApiDefinition, type OperationCall, operationCallSchema } from "./openapi-definition.ts";
import { type BeforeCall, previewCall } from "./preview-call.ts";
import { fillAddress } from "./server-address.ts";

type Values = Readonly<Record<string, unknown>>;

/** Longer answers are compared, but not shown; in characters of JSON. */
const MAX_SHOWN = 256 * 1024;
const CHANGES = new Set(["PUT", "PATCH", "DELETE"]);

/** Parts of an open app that a look needs. */
interface LookParts {
  readonly definition: OpenApiDefinition;
  readonly content: SourceContent;
  /** Throws ServiceError as the action would. */
  fetch(
    request: ApiRequest,
    action: StoredAction,
    context: ActionContext,
  ): Promise<{ readonly value: unknown; readonly headers: Readonly<Record<string, unknown>> }>;
}

/** Looks at what a write of the app acts on. */
export function createLook({ definition, content, fetch }: LookParts) {
  const reads = listReads(content.actions);
  const tokens = new Set(definition.ways.flatMap(({ signIn }) => (signIn === undefined ? [] : [signIn.setting])));

  function clean(value: unknown, settings: Values): unknown {
    const json = JSON.stringify(value ?? null, hideCredential);
    if (json.length > MAX_SHOWN) return undefined;
    const stored = Object.fromEntries(Object.entries(settings).filter(([name]) => !tokens.has(name)));
    return parseJson(hideInResult({ value, json }, pickSecretSettings(content, settings, stored)).json);
  }

  async function look(action: StoredAction, args: Values, context: JudgeContext): Promise<BeforeCall | undefined> {
    const call = operationCallSchema.parse(action.call);
    const read = reads.get(call.path);
    const given = read && toReadArguments(read, call, args);
    if (read === undefined || given === undefined) return undefined;
    const { connection, signal, now } = context;
    const own = { connection, signal, now, file: refuseFile };
    const request = buildRequest(definition, operationCallSchema.parse(read.call), given, own);
    try {
      const { value, headers } = await fetch(request, read, own);
      const etag = typeof headers.etag === "string" && headers.etag.startsWith('"') ? headers.etag : undefined;
      const shown = clean(value, connection.settings);
      return { value: shown, isMissing: false, etag, seen: etag ?? [JSON.stringify(value ?? null)] };
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status >= 500 || error.options.retryable) throw error;
      if (error.status === 404 && call.method !== "PUT") throw error;
      // Whoever may not read it may be allowed to change it.
      return error.status === 404 ? { value: undefined, isMissing: true, etag: undefined, seen: null } : undefined;
    }
  }

  return {
    /**
     * What a write acts on; undefined where the account cannot tell. Throws ServiceError for an app that is down, and 404 for
     * something that is missing and cannot be created by this call.
     */
    look,

    /** The preview of an action; undefined unless it is a write with a GET of the same path. */
    findPreview(action: StoredAction): Action["preview"] {
      const { method, path } = isRecord(action.call) ? action.call : {};
      if (!CHANGES.has(String(method)) || !reads.has(String(path))) return undefined;
      return async (args, context) => {
        const call = operationCallSchema.parse(action.call);
        const before = await look(action, args, context);
        if (before === undefined) return undefined;
        const { label, settings } = context.connection;
        const shown = clean(args, settings);
        const { host } = new URL(fillAddress(definition, settings));
        return previewCall({ action, call, args: isRecord(shown) ? shown : {}, before, label, host });
      };
    },
  };
}

/** The GETs of an app that need no question, by their paths. */
function listReads(actions: readonly StoredAction[]): ReadonlyMap<string, StoredAction> {
  const reads = actions.filter(
    ({ level, call }) => level === "read" && isRecord(call) && call.method === "GET" && call.body === null,
  );
  return new Map(reads.map((action) => [String(isRecord(action.call) && action.call.path), action]));
}

/** The arguments of the write that name the same thing in the read; undefined where the read needs others. */
function toReadArguments(read: StoredAction, write: OperationCall, args: Values): Values | undefined {
  const { parameters } = operationCallSchema.parse(read.call);
  const given = parameters.flatMap((parameter) => {
    if (parameter.setting !== undefined || (parameter.in !== "path" && parameter.in !== "query")) return [];
    const twin = write.parameters.find(({ in: place, name }) => place === parameter.in && name === parameter.name);
    const value = twin && args[twin.argument];
    return value === undefined ? [] : [[parameter.argument, value] as const];
  });
  const known = Object.fromEntries(given);
  const { required } = read.inputSchema;
  const isWhole = !Array.isArray(required) || required.every((name) => Object.hasOwn(known, String(name)));
  return isWhole ? known : undefined;
}

function refuseFile(): never {
  throw new TypeError("A GET sends no files.");
}
