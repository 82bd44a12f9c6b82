import { API_KEY_HEADER } from "../../wire/auth.ts";
import { BOOTSTRAP_LIFETIME_MS } from "../../wire/limits.ts";
import type { BootstrapPollReply, BootstrapStartReply } from "../../wire/registration.ts";
import type { ApiKeys } from "../auth/api-keys.ts";
import { createDisplayCode, createId, createSecret, hashSecret } from "../auth/secrets.ts";
import { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import type { BootstrapRow } from "../store/schema.ts";
import { inSoftTransaction } from "../store/soft-transaction.ts";
import { takeTurn } from "../store/turns.ts";
import { type BootstrapView, viewBootstrap } from "./bootstrap-view.ts";
import { makeRoom } from "./make-room.ts";
import type { InstallerFacts } from "./read-installer.ts";
import { readNetwork } from "./read-network.ts";

/** Suggested time between two polls of a session. */
const POLL_INTERVAL_MS = 2000;
/** "Registration: installer bootstrap flow". */
export interface Bootstrap {
  start(installer: InstallerFacts, address: string): Promise<BootstrapStartReply>;
  /** The session behind an approval address, for the owner's page: from then on it does not give way to others. */
  open(approvalToken: string): Promise<BootstrapView | undefined>;
  /** Approves or declines for the signed-in owner; false when the session no longer waits. */
  decide(approvalToken: string, accountId: string, decision: "approve" | "decline"): Promise<boolean>;
  /**
   * How the session stands. The first poll after the approval makes the key and hands out `install`; the session is
   * `consumed` then.
   *
   * @throws ServiceError 404, bare, when there is no such session.
   */
  poll(pollToken: string): Promise<BootstrapPollReply>;
}

/** What a bootstrap flow is made of; `baseUrl` has no slash at the end. */
interface BootstrapParts {
  readonly store: Store;
  readonly keys: ApiKeys;
  readonly now: () => number;
  readonly baseUrl: string;
}

/**
 * Creates the bootstrap flow. The approval address and the poll address carry two different secrets: whoever sees
 * the link that a human opens cannot fetch the key.
 */
export function createBootstrap(parts: BootstrapParts): Bootstrap {
  const { store, now } = parts;
  const at = () => new Date(now()).toISOString();

  return {
    async start(installer, address) {
      const approvalToken = createSecret();
      const pollToken = createSecret();
      const session = createSession({ installer, address, approvalToken, pollToken, now: now() });
      // Whoever loses one by a power cut starts another.
      await inSoftTransaction(store, async (transaction) => {
        await takeTurn(transaction, "bootstrap");
        await makeRoom(transaction, "bootstrap", now());
        await transaction.insertInto("bootstrap_sessions").values(session).execute();
      });
      return describeStart(parts.baseUrl, session, { approvalToken, pollToken });
    },

    async open(approvalToken) {
      await store
        .updateTable("bootstrap_sessions")
        .set({ opened_at: at() })
        .where("approval_hash", "=", hashSecret(approvalToken))
        .where("opened_at", "is", null)
        .execute();
      const row = await store
        .selectFrom("bootstrap_sessions")
        .selectAll()
        .where("approval_hash", "=", hashSecret(approvalToken))
        .executeTakeFirst();
      return row && viewBootstrap(row, now());
    },

    async decide(approvalToken, accountId, decision) {
      const change =
        decision === "approve"
          ? { status: "approved" as const, account_id: accountId, decided_at: at() }
          : { status: "denied" as const, decided_at: at() };
      const result = await store
        .updateTable("bootstrap_sessions")
        .set(change)
        .where("approval_hash", "=", hashSecret(approvalToken))
        .where("status", "=", "awaiting_approval")
        .where("expires_at", ">", at())
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    },

    poll: (pollToken) => pollSession(parts, pollToken),
  };
}

/** The key is stored (hashed) and the session closed in one transaction before the reply exists. */
async function pollSession({ store, keys, now, baseUrl }: BootstrapParts, pollToken: string) {
  const pollHash = hashSecret(pollToken);
  const at = new Date(now()).toISOString();
  return store.transaction().execute(async (transaction): Promise<BootstrapPollReply> => {
    const taken = await transaction
      .updateTable("bootstrap_sessions")
      .set({ status: "consumed", consumed_at: at })
      .where("poll_hash", "=", pollHash)
      .where("status", "=", "approved")
      .where("expires_at", ">", at)
      .returningAll()
      .executeTakeFirst();
    if (taken?.account_id != null) {
      const label = taken.client_label ?? taken.hostname ?? "Unnamed client";
      const { apiKey, apiKeyId } = await keys.issue(
        { accountId: taken.account_id, label, client: taken.agent ?? "installer" },
        transaction,
      );
      await transaction
        .updateTable("bootstrap_sessions")
        .set({ api_key_id: apiKeyId })
        .where("poll_hash", "=", pollHash)
        .execute();
      const install = { server_name: "svc", url: `${baseUrl}/api/mcp`, headers: { [API_KEY_HEADER]: apiKey } };
      return { ...describePoll({ ...taken, status: "approved" }, now()), install };
    }
    const row = await transaction
      .selectFrom("bootstrap_sessions")
      .selectAll()
      .where("poll_hash", "=", pollHash)
      .executeTakeFirst();
    if (row !== undefined) return describePoll(row, now());
    throw new ServiceError(404, "unknown_session", "This installer session is unknown. Start the installation again.", {
      bare: true,
    });
  });
}

function describePoll(row: BootstrapRow, now: number): BootstrapPollReply {
  return {
    session_id: row.id,
    status: viewBootstrap(row, now).status,
    expires_at: row.expires_at,
    poll_interval_ms: POLL_INTERVAL_MS,
  };
}

function createSession(o: {
  installer: InstallerFacts;
  address: string;
  approvalToken: string;
  pollToken: string;
  now: number;
}): BootstrapRow {
  return {
    id: createId("bts"),
    approval_hash: hashSecret(o.approvalToken),
    poll_hash: hashSecret(o.pollToken),
    display_code: createDisplayCode(),
    client_label: o.installer.clientLabel,
    hostname: o.installer.hostname,
    platform: o.installer.platform,
    agent: o.installer.agent,
    address: o.address,
    status: "awaiting_approval",
    account_id: null,
    api_key_id: null,
    created_at: new Date(o.now).toISOString(),
    expires_at: new Date(o.now + BOOTSTRAP_LIFETIME_MS).toISOString(),
    decided_at: null,
    consumed_at: null,
    network: readNetwork(o.address),
    opened_at: null,
  };
}

function describeStart(
  baseUrl: string,
  session: BootstrapRow,
  tokens: { approvalToken: string; pollToken: string },
): BootstrapStartReply {
  return {
    session_id: session.id,
    approval_url: `${baseUrl}/install/${tokens.approvalToken}`,
    poll_url: `${baseUrl}/api/installer/bootstrap-sessions/${tokens.pollToken}`,
    expires_at: session.expires_at,
    status: session.status,
    poll_interval_ms: POLL_INTERVAL_MS,
    display_code: session.display_code,
    display: {
      title: "Approve this installation",
      summary: `Open the approval address and check that the page shows the code ${session.display_code}.`,
    },
  };
}
