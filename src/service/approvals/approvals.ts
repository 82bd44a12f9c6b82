import type { Rules } from "../access/rules.ts";
import type { Principal } from "../auth/api-keys.ts";
import { type Grants, readClientId } from "../auth/grants.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { readExecution, type StoredExecution } from "../executions/outcome.ts";
import { phraseError } from "../executions/summarise-outcome.ts";
import type { Hold } from "../executions/tool-call.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import type { ApprovalMode, ApprovalRow } from "../store/schema.ts";
import type { HeldApproval } from "./approval-rows.ts";
import { createApprovedRuns } from "./approved-runs.ts";
import { createDecisions, type Decisions, endWait, type ShownCall } from "./decide-call.ts";
import { type Edit, type Edited, editCall } from "./edit-call.ts";
import { freeHeldFiles } from "./held-files.ts";
import { holdCall } from "./hold-call.ts";
import { type ApprovalList, openApprovalList } from "./list-approvals.ts";
import { lookAgain } from "./look-again.ts";
import { releaseHeld } from "./release-held.ts";
import { createRuledWaits } from "./ruled-waits.ts";
import type { RunParts } from "./run-approved.ts";

/** Calls that the service holds until its owner has decided. */
export interface Approvals extends ApprovalList, Decisions {
  /**
   * Holds the calls of a caller whose own confirmation does not count; undefined where it counts.
   *
   * @param chosen who approves them by the grant of the caller
   * @param request the shape in which the caller expects the result, and its idempotency key
   */
  findHold(
    principal: Principal,
    chosen: ApprovalMode | undefined,
    request: Pick<ApprovalRow, "shape"> & Partial<Pick<ApprovalRow, "idempotency_key" | "input_hash">>,
  ): Hold | undefined;
  /** True where the service holds every call that needs an approval, whatever the mode of its caller. */
  readonly isFixed: boolean;
  /** Who approves the calls of a key or OAuth client. */
  readMode(subject: string): Promise<ApprovalMode>;
  /** The same, for one whose grant is known: `chosen` there. */
  chooseMode(subject: string, chosen: ApprovalMode | undefined): ApprovalMode;
  /** Page on which the owner decides. */
  urlOf(id: string): string;
  /** The end of its execution in the words of the endpoint that was called; undefined before, and after seven days. */
  findResult(approval: HeldApproval): Promise<StoredExecution | undefined>;
  /** Withdraws a request of this key; false when it is decided. */
  cancel(principal: Principal, id: string): Promise<boolean>;
  /** Changes the arguments of a call that waits, after every check; undefined for one that is not as it was shown any more. */
  edit(accountId: string, shown: ShownCall, edit: Edit): Promise<Edited | undefined>;
  /** Asks once more about a call that was void; see {@link lookAgain}. */
  lookAgain(accountId: string, id: string): Promise<string | undefined>;
  /** Ends the wait of calls that a rule blocks by now; by itself it happens soon after a rule is made. */
  applyRules(): Promise<void>;
  /** Stops; resolves when nothing is started any more. */
  close(): Promise<void>;
}

/** Parts of {@link createApprovals}. */
export interface ApprovalParts extends RunParts {
  readonly store: Store;
  readonly box: SecretBox;
  readonly grants: Grants;
  readonly rules: Pick<Rules, "list">;
  readonly catalog: Catalog;
  readonly now: () => number;
  readonly baseUrl: string;
  /** `owner`: nobody's own confirmation counts. `device`: that of paired devices does, unless they are set otherwise. */
  readonly mode: ApprovalMode;
  /** Milliseconds between two looks for approved calls that another process left. */
  readonly checkEveryMs: number;
}

/** How long the result of a call is handed out, in milliseconds. */
const RESULT_KEPT_MS = 7 * 24 * 60 * 60 * 1000;

function createModes({ grants, mode: fixed }: ApprovalParts): Pick<Approvals, "isFixed" | "readMode" | "chooseMode"> {
  const chooseMode: Approvals["chooseMode"] = (subject, chosen) => {
    if (fixed === "owner") return "owner";
    return chosen ?? (readClientId(subject) === undefined ? "device" : "owner");
  };
  return {
    isFixed: fixed === "owner",
    chooseMode,
    readMode: async (subject) => chooseMode(subject, (await grants.read(subject)).scopes.approvals),
  };
}

/** Opens the approvals of a service. */
export function createApprovals(parts: ApprovalParts): Approvals {
  const { store } = parts;
  const rules = createRuledWaits(parts);
  const runs = createApprovedRuns(parts, rules.apply);
  const urlOf = (id: string) => `${parts.baseUrl}/inbox/${id}`;
  const modes = createModes(parts);
  const list = openApprovalList(parts);

  return {
    ...modes,
    ...list,
    ...createDecisions(parts, runs.start),
    edit: (accountId, shown, edit) => editCall(parts, accountId, shown, edit),
    lookAgain: (accountId, id) => lookAgain({ ...parts, urlOf }, accountId, id),
    applyRules: rules.apply,
    urlOf,

    findHold(principal, chosen, request) {
      if (modes.chooseMode(principal.apiKeyId, chosen) === "device") return undefined;
      const own = { ...parts, urlOf };
      return {
        keep: (call) => holdCall(own, { ...call, principal, ...request }),
        release: (transaction, call, executionId) =>
          releaseHeld(own, transaction, { call: { ...call, principal, ...request }, executionId }),
      };
    },

    async findResult({ accountId, executionId, status, decidedAt, row }) {
      if (status !== "done" || executionId === null || Date.parse(decidedAt ?? "") + RESULT_KEPT_MS < parts.now())
        return;
      const execution = await parts.executionLog.find(accountId, executionId);
      const outcome = execution && readExecution(execution, parts.catalog);
      if (outcome?.error === undefined || row.shape === "envelope") return outcome;
      return { ...outcome, error: phraseError(outcome.error, outcome.entry) };
    },

    async cancel({ accountId, apiKeyId }, id) {
      const own = await list.find(accountId, id);
      if (own?.apiKeyId !== apiKeyId) {
        throw new ServiceError(404, "approval_not_found", "There is no such approval.", { bare: true });
      }
      const set = { status: "cancelled" } as const;
      const at = new Date(parts.now()).toISOString();
      const { numUpdatedRows } = await endWait(store, { accountId, id, at, set }).executeTakeFirst();
      await freeHeldFiles(parts);
      return numUpdatedRows > 0n;
    },

    close: runs.close,
  };
}
