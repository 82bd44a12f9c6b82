import { sha256Hex } from "../../shared/base/hash.ts";
import { createId } from "../../shared/base/ids.ts";
import { cloneJson } from "../../shared/base/json.ts";
import type { ApprovalStatus } from "../../shared/wire/approval.ts";
import type { Principal } from "../auth/api-keys.ts";
import { type CatalogEntry, levelOf } from "../catalog/catalog-entry.ts";
import { explainPolicy } from "../catalog/describe-catalog.ts";
import { hashInput } from "../executions/idempotency-keys.ts";
import type { PreparedCall } from "../executions/run-action.ts";
import type { BlobStore } from "../files/blob-store.ts";
import { findFileFields, findUrlFields } from "../files/file-fields.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import { ServiceError } from "../service-error.ts";
import { type Store, takeTurn } from "../store/open-store.ts";
import type { ApprovalRow } from "../store/schema.ts";
import {
  type ApprovalContent,
  countWaiting,
  type HeldApproval,
  isOpen,
  LIFETIME_MS,
  placeOf,
  readApproval,
  selectApprovals,
} from "./approval-rows.ts";
import { checkHeldBytes, countBytes, dropUnheld } from "./held-files.ts";

/** How long a duplicate of a declined call is answered with the decline, in milliseconds. */
const DECLINED_MS = 10 * 60 * 1000;
/** Pending requests of an account; a model in a loop must not fill the inbox. */
const MAX_PENDING = 500;

/** A call that only the owner may approve. */
export type HeldCall = PreparedCall & { readonly principal: Principal } & Pick<ApprovalRow, "shape"> &
  Partial<Pick<ApprovalRow, "idempotency_key" | "input_hash">>;

/** Hears of each call that begins to wait for the owner. */
export interface OnWaiting {
  /** Belongs to the transaction that lets the approval, or the flow, of this id wait. */
  add(transaction: Store, id: string): Promise<void>;
  /** Says that such a transaction has ended. */
  wake(): void;
}

/** Parts that keep calls for the owner. */
export interface HoldParts {
  readonly store: Store;
  readonly onWaiting: OnWaiting;
  readonly box: SecretBox;
  readonly now: () => number;
  readonly blobs: Pick<BlobStore, "remove">;
  urlOf(id: string): string;
}

/**
 * Keeps a call for the owner, or joins its open duplicate, or the call with its idempotency key, and gives the refusal that names the approval
 * (412 `confirmation_required`); 429 when 500 requests are pending, or files of too many bytes are in those of its key.
 */
export async function holdCall(parts: HoldParts, call: HeldCall): Promise<ServiceError> {
  const { store } = parts;
  const fingerprint = fingerprintCall(call);
  const holding = store.transaction().execute(async (transaction) => {
    await takeTurn(transaction, "approvals");
    const known = await findDuplicate(transaction, parts, { call, fingerprint });
    return known ?? insert(transaction, parts, { call, fingerprint });
  });
  const approval = await holding.catch(async (error: unknown) => {
    if (error instanceof ServiceError) await dropUnheld(parts, call, undefined);
    throw error;
  });
  await dropUnheld(parts, call, approval);
  parts.onWaiting.wake();
  return refuseHeld(approval, parts);
}

/** Equal for duplicates. Storage keys are new with each upload: equal bytes make equal calls. */
export function fingerprintCall(call: PreparedCall & { readonly principal: Principal }): string {
  const { principal, entry, connection, args, file } = call;
  const copy = cloneJson(args) as typeof args;
  const { inputSchema } = entry.action;
  for (const { value } of findFileFields(inputSchema, copy)) value.s3key = file(String(value.s3key)).sha256;
  for (const { reference, replace } of findUrlFields(inputSchema, copy)) replace(file(reference).sha256);
  const { raised } = entry;
  const shown = raised === undefined ? [] : [raised.level];
  return hashInput([principal.apiKeyId, entry.toolName, digestTool(entry), connection.id, copy, ...shown]);
}

/** The fingerprint of a call with the state that it was shown in; `findDuplicate` finds it by that of the call alone. */
export function fingerprintShown(fingerprint: string, { looked }: Pick<PreparedCall, "looked">): string {
  const state = looked?.preview?.state;
  return state === undefined ? fingerprint : `${fingerprint}.${sha256Hex(state)}`;
}

/** Changes with anything that the owner is told about an action. */
export function digestTool({ action, integration }: CatalogEntry): string {
  const { title, description, level, inputSchema } = action;
  return hashInput([integration.slug, action.id, title, description, level, inputSchema]);
}

/** Changes when a connection is signed in again, changed or renamed; undefined when it is gone. */
export async function digestConnection(store: Store, id: string): Promise<string | undefined> {
  const row = await store
    .selectFrom("connections")
    .select(["settings", "label"])
    .where("id", "=", id)
    .executeTakeFirst();
  return row && sha256Hex(JSON.stringify([row.label, row.settings]));
}

/** The same call of the same caller, which waits, is under way, was declined just now, or has the key of this one. */
export async function findDuplicate(
  store: Store,
  parts: Pick<HoldParts, "box" | "now">,
  o: { call: HeldCall; fingerprint: string },
): Promise<HeldApproval | undefined> {
  // One that a person has edited is known by both: by what was asked, and by what it became.
  for (const column of ["approvals.call_fingerprint", "approvals.asked_fingerprint"] as const) {
    const found = await findEqual(store, parts, { ...o, column });
    if (found !== undefined) return found;
  }
  return undefined;
}

async function findEqual(
  store: Store,
  { box, now }: Pick<HoldParts, "box" | "now">,
  o: { call: HeldCall; fingerprint: string; column: "approvals.call_fingerprint" | "approvals.asked_fingerprint" },
): Promise<HeldApproval | undefined> {
  const { principal, idempotency_key: key = null } = o.call;
  const equal = selectApprovals(store)
    .where("approvals.api_key_id", "=", principal.apiKeyId)
    // In any state: what it acts on may be as another call, or this one itself, has left it.
    .where(o.column, "=", o.fingerprint)
    .where("approvals.status", "in", ["pending", "approved", "running", "declined"])
    .orderBy("approvals.requested_at", "desc")
    .limit(20);
  const read = async (query: typeof equal) =>
    (await query.execute()).map((row) => readApproval(row, { box, now: now() }));
  // With its key, a call is the same one also after its end: its first answer may have been lost.
  const own = key === null ? [] : await read(equal.where("approvals.idempotency_key", "=", key));
  const known = own.find(({ status }) => status !== "expired");
  if (known !== undefined) return known;
  const ofOthers = equal.where((e) =>
    e.or([e("executions.finished_at", "is", null), e("approvals.status", "=", "declined")]),
  );
  return (await read(ofOthers)).find(({ status, decidedAt }) =>
    status === "declined"
      ? Date.parse(decidedAt ?? "") + DECLINED_MS > now()
      : status !== "done" && status !== "expired",
  );
}

async function insert(
  store: Store,
  { box, now, onWaiting }: HoldParts,
  { call, fingerprint }: { call: HeldCall; fingerprint: string },
): Promise<HeldApproval> {
  const { principal, entry, connection, shape, idempotency_key = null, input_hash = fingerprint } = call;
  const at = new Date(now()).toISOString();
  if ((await countWaiting(store, principal.accountId, at)) >= MAX_PENDING) throw inboxFull();
  const content = describeCall(call);
  const file_bytes = countBytes(content);
  await checkHeldBytes(store, { apiKeyId: principal.apiKeyId, bytes: file_bytes, now: now() });
  const id = createId("apr");
  const row: ApprovalRow = {
    id,
    account_id: principal.accountId,
    api_key_id: principal.apiKeyId,
    tool_name: entry.toolName,
    integration: entry.integration.slug,
    connection_id: connection.id,
    level: levelOf(entry),
    content: box.seal(JSON.stringify(content), placeOf(id)),
    fingerprint: fingerprintShown(fingerprint, call),
    call_fingerprint: fingerprint,
    tool_digest: digestTool(entry),
    connection_digest: (await digestConnection(store, connection.id)) ?? "",
    shape,
    idempotency_key,
    input_hash,
    status: "pending",
    requested_at: at,
    expires_at: new Date(now() + LIFETIME_MS).toISOString(),
    decided_at: null,
    decided_by: null,
    reason: null,
    execution_id: null,
    number: await findNextNumber(store),
    queue: null,
    decision: null,
    behind: null,
    asked_fingerprint: null,
    edited_by: null,
    file_bytes,
  };
  await store.insertInto("approvals").values(row).execute();
  await onWaiting.add(store, id);
  return readApproval({ ...row, ended_at: null, ended_with: null }, { box, now: now() });
}

/** Belongs to the turn of {@link holdCall}: no two calls get the same. */
async function findNextNumber(store: Store): Promise<number> {
  const newest = store.selectFrom("approvals").select("number").where("number", ">=", 0).orderBy("number", "desc");
  return ((await newest.limit(1).executeTakeFirst())?.number ?? 0) + 1;
}

/** A call as the owner sees it. */
export function describeCall({ entry, connection, args, file, stored, looked = {} }: PreparedCall): ApprovalContent {
  const { action, integration } = entry;
  const copy = cloneJson(args) as typeof args;
  const references = [
    ...findFileFields(action.inputSchema, copy).map(({ field, value }) => ({ field, s3key: String(value.s3key) })),
    ...findUrlFields(action.inputSchema, copy).map(({ field, reference }) => ({ field, s3key: reference })),
  ];
  const files = references.map(({ field, s3key }) => {
    const { name, mimetype, size, sha256 } = file(s3key);
    return { field, s3key, name, mimetype, size, sha256 };
  });
  return {
    arguments: args,
    files,
    stored: [...stored],
    app: integration.name,
    title: action.title,
    description: action.description,
    ...(entry.raised !== undefined && { does: entry.raised.says }),
    account: connection.label,
    policyReason: explainPolicy(entry) ?? undefined,
    preview: looked.preview,
    ...(looked.failure !== undefined && { previewFailed: true }),
    askBefore: [...(action.askBefore ?? [])],
  };
}

/** How a held call stands, in words that follow its title. */
const STANDS: Readonly<Record<ApprovalStatus, string>> = {
  pending: "waits for the owner of this service",
  approved: "was approved and is about to run",
  running: "was approved and is running",
  done: "was approved and has run",
  declined: "was declined by the owner and not run",
  cancelled: "was withdrawn and not run",
  expired: "was not run, because nobody decided in time",
  void: "was approved and not run",
};

/** The refusal of a held call, 412 `confirmation_required` with `approval`: how it stands, and where its result is found. */
export function refuseHeld(approval: HeldApproval, { urlOf }: Pick<HoldParts, "urlOf">): ServiceError {
  const { id, status, requestedAt, expiresAt, reason, content } = approval;
  const { preview, previewFailed } = content ?? {};
  const why = reason === null ? "" : ` Reason: ${reason}`;
  return new ServiceError(
    412,
    "confirmation_required",
    `"${content?.title ?? approval.toolName}" ${STANDS[status]}.${why}`,
    {
      type: "confirmation",
      hint:
        isOpen(status) || status === "done"
          ? `The owner decides at ${urlOf(id)}. GET /api/approvals/${id}?wait=30 waits for the decision and has the result; a confirmation in the call changes nothing.`
          : "Do not send this call again unless the human asks for it.",
      extra: {
        approval: { id, status, url: urlOf(id), requestedAt, expiresAt },
        ...(preview !== undefined && { preview }),
        ...(previewFailed && { preview_failed: true }),
      },
    },
  );
}

function inboxFull(): ServiceError {
  const message = `${MAX_PENDING} calls wait for the owner already.`;
  return new ServiceError(429, "too_many_approvals", message, {
    type: "rate_limit",
    retryable: true,
    retryAfterSeconds: 600,
    hint: "Stop, and tell the human that their inbox is full.",
  });
}
