import type { ActionContext } from "../../apps/port/integration.ts";
import type { SideEffectLevel } from "../../shared/wire/catalog.ts";
import type { AccessView } from "../access/access-view.ts";
import type { Principal } from "../auth/api-keys.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import type { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import type { Permission } from "./permission.ts";
import type { LookedFiles } from "./preview-call.ts";
import type { PreparedCall, ResolvedFiles } from "./run-action.ts";
import type { OnStart } from "./write-records.ts";

/** One request to run a tool. */
export interface ToolCall {
  readonly principal: Principal;
  readonly toolName: string;
  /** As sent; must turn out to be an object. */
  readonly arguments: unknown;
  readonly connectionId?: string | undefined;
  /** True only when a human approved this very call. */
  readonly confirmed: boolean;
  /** The level that they were shown, or that a standing permission is for: a call that does more is not confirmed. Default: any. */
  readonly confirmedLevel?: SideEffectLevel | undefined;
  /** State of the preview that they were shown: the call runs on no other one. Default: any. */
  readonly previewState?: string | undefined;
  /** When they said yes, in ISO 8601. Default: now. */
  readonly agreedAt?: string | undefined;
  /** Whose confirmation that is. Default: of the human of the device or app that calls. */
  readonly permission?: Permission;
  /**
   * Finds who keeps the call for the owner, whatever `confirmed` says: asked for calls that need a confirmation, with who
   * approves them by the view of the caller. Undefined, or an undefined answer, where the confirmation of the caller counts.
   */
  readonly findHold: ((approvals: AccessView["approvals"]) => Hold | undefined) | undefined;
  /** Runs in the transaction that records the start; a ServiceError it throws blocks the call. */
  readonly onStart?: OnStart;
  readonly clientGone: AbortSignal;
  /** Tells what is known of the files of a call that is only looked at; never throws for files that are not there. */
  describeFiles(entry: CatalogEntry, args: Record<string, unknown>): Promise<LookedFiles>;
  /** Turns valid arguments into resolved ones; throws ServiceError, e.g. 400 `missing_file_bytes`. */
  resolveFiles(entry: CatalogEntry, args: Record<string, unknown>, signal: AbortSignal): Promise<ResolvedFiles>;
  /** Keeps bytes that an action produced as a file of the caller's account. */
  keepFile: NonNullable<ActionContext["keepFile"]>;
}

/** A call of which nothing runs. */
export type LookedCall = Pick<
  ToolCall,
  "principal" | "toolName" | "arguments" | "connectionId" | "clientGone" | "describeFiles"
>;

/** What becomes of calls that only the owner may approve. */
export interface Hold {
  /** Keeps a call that passed every check until the owner has decided, and gives the refusal to answer it with. */
  keep(call: PreparedCall): Promise<ServiceError>;
  /**
   * Ends the wait of the same call, because a rule allows it by now: what starts is the one that waited. Belongs to the
   * transaction of the start; throws the refusal of {@link keep} for one that was approved meanwhile.
   */
  release(transaction: Store, call: PreparedCall, executionId: string): Promise<void>;
}
