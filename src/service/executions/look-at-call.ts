import type { ActionResult } from "../../apps/port/hide-secrets.ts";
import type { Origin } from "../../shared/wire/origin.ts";
import { MAX_PREVIEW_MS } from "../../shared/wire/preview.ts";
import { isAbout, type Rule } from "../access/rules.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { type KeptFile, readFiles, watchKept } from "../seen/file-texts.ts";
import type { EndedCall } from "../seen/note-results.ts";
import type { JudgedOrigins, Seen } from "../seen/open-seen.ts";
import type { WalkOwn } from "../seen/own-index.ts";
import type { ServiceError } from "../service-error.ts";
import { type Looked, previewCall } from "./preview-call.ts";
import { type PreparedCall, type RunParts, walkOwnValues } from "./run-action.ts";
import type { LookedCall, ToolCall } from "./tool-call.ts";

/** What whoever is asked about a call is shown beside it. */
export interface ShownCall extends Looked {
  /** Where its values come from; undefined where that could not be found out. */
  readonly judged?: JudgedOrigins | undefined;
}

/** Parts that {@link lookAtCall} needs. */
export interface LookParts extends RunParts {
  /** Default: nobody remembers where values come from. */
  readonly seen?: Pick<Seen, "judge" | "note"> | undefined;
}

/**
 * Says what a call would do, and where its values come from, in at most five seconds. A look never blocks a call.
 *
 * @throws ServiceError a refusal that the run would give.
 */
export async function lookAtCall(
  parts: LookParts,
  call: Pick<PreparedCall, "entry" | "connection" | "args"> &
    Pick<LookedCall, "principal" | "said" | "clientGone" | "describeFiles">,
): Promise<ShownCall> {
  const { args, principal, said = [] } = call;
  const judging = parts.seen?.judge({
    principal,
    args,
    said,
    readFiles: () => readCallFiles(call),
  });
  const looked = await previewCall(parts, call);
  return { ...looked, judged: await judging };
}

async function readCallFiles({ entry, args, describeFiles }: Parameters<typeof lookAtCall>[1]) {
  const looked = await describeFiles(entry, args);
  return readFiles(entry.action.inputSchema, looked.args, looked.file);
}

/**
 * True where a rule about strangers counts for a call: something goes to where somebody else says, or to where nobody is known;
 * of a read, also where it takes an address or link of somebody else to its app. What the device says is left aside, and what
 * cannot be found out counts as strange.
 */
export async function isStrange(
  parts: LookParts,
  rules: readonly Rule[],
  call: Parameters<typeof lookAtCall>[1],
): Promise<boolean> {
  const { entry, args, principal } = call;
  const isFor = ({ origin, key = principal.apiKeyId }: Rule) => origin !== undefined && key === principal.apiKeyId;
  if (!rules.some((rule) => isFor(rule) && isAbout(rule, entry))) return false;
  const judged = await parts.seen?.judge({ principal, args, said: [], readFiles: () => readCallFiles(call) });
  return judged === undefined || judged.origins.some((one) => goesToStranger(one, entry));
}

const PLACES: ReadonlySet<string> = new Set(["address", "host", "link"]);

function goesToStranger({ origin, sink, kind }: Origin, { action }: CatalogEntry): boolean {
  if (origin === "somebody") return sink || (action.level === "read" && PLACES.has(kind));
  return origin === "unseen" && sink;
}

/** Notes how a call ended, once its answer is on its way. */
export function openNoting(
  { seen }: LookParts,
  { principal, said = [], keepFile }: Pick<ToolCall, "principal" | "said" | "keepFile">,
  { entry, connection, args, file }: PreparedCall,
  executionId: string,
) {
  if (seen === undefined) return { keepFile, note: () => {} };
  const files: KeptFile[] = [];
  const { inputSchema } = entry.action;
  const call = { executionId, principal, entry, connection, args, said, files };
  return {
    keepFile: watchKept(keepFile, (kept) => files.push(kept)),
    note(end: { readonly output?: ActionResult; readonly error?: ServiceError }): void {
      const ended: EndedCall = {
        ...call,
        output: end.output?.value,
        json: end.output?.json,
        error: end.error,
        readFiles: () => readFiles(inputSchema, args, file),
      };
      seen.note(ended);
    },
  };
}

/** Walks the owner's own data of accounts by what their apps offer, as a read of them. */
export function createOwnWalk(parts: RunParts, catalog: Pick<Catalog, "integrations" | "listEntries">): WalkOwn {
  return async (connection, signal, use) => {
    const integration = catalog.integrations.find(({ slug }) => slug === connection.integration);
    const [entry] = integration === undefined ? [] : catalog.listEntries(integration.slug);
    if (entry === undefined) return;
    await walkOwnValues({ ...parts, providerTimeoutMs: WALK_MS }, { entry, connection, clientGone: signal }, use);
  };
}

/** Longest walk, in milliseconds; its signal ends it sooner. */
const WALK_MS = 60 * MAX_PREVIEW_MS;
