import { createId } from "../../../shared/base/ids.ts";
import { cleanText } from "../../../shared/base/text.ts";
import { API_KEY_HEADER, BOOTSTRAP_LIFETIME_MS } from "../../../shared/wire/constants.ts";
import type { KeyScopes } from "../../../shared/wire/key-scopes.ts";
import { MCP_PATH } from "../../../shared/wire/mcp.ts";
import type { BootstrapPollReply, BootstrapStartReply, BootstrapStatus } from "../../../shared/wire/registration.ts";
import { refuseBare } from "../../service-error.ts";
import type { Store } from "../../store/open-store.ts";
import type { BootstrapRow } from "../../store/schema.ts";
import type { ApiKeys } from "../api-keys.ts";
import { type Grants, readScopes } from "../grants.ts";
import { createDisplayCode, createSecret, hashSecret } from "../secrets.ts";
import { addWaiting, decideWaiting, type KeyDecision, markOpened, readSessionStatus } from "./waiting-session.ts";

const POLL_INTERVAL_MS = 2000;
/** Longest text that an installer says about itself, in characters; longer ones are cut. */
const MAX_FACT = 80;

/** A bootstrap session, with its status at the time it was read. */
export type BootstrapSession = Omit<BootstrapRow, "status" | "scopes"> & {
  readonly status: BootstrapStatus;
  /** Requested limits; once approved, the granted ones. */
  readonly scopes: KeyScopes;
};

/** "Registration: installer bootstrap flow". */
export type Bootstrap = ReturnType<typeof createBootstrap>;

/** `baseUrl` has no slash at the end. */
interface BootstrapParts {
  readonly store: Store;
  readonly keys: ApiKeys;
  readonly grants: Grants;
  readonly now: () => number;
  readonly baseUrl: string;
}

/**
 * Creates the bootstrap flow. The approval address and the poll address carry two different secrets: the link that a
 * human opens is not enough to fetch the key.
 */
export function createBootstrap(parts: BootstrapParts) {
  const { store, now, baseUrl } = parts;

  return {
    /**
     * Starts a session from the free-form body of the request: `client_label`, `hostname`, `platform`, `agent_family` and
     * `agent_version` are kept for the page when they are texts. None of them is verified.
     *
     * @param o.address network address of the caller
     * @param o.scopes requested limits of the key, checked already
     */
    async start(
      body: Readonly<Record<string, unknown>>,
      { address, scopes }: { address: string; scopes?: KeyScopes | undefined },
    ): Promise<BootstrapStartReply> {
      const [approvalToken, pollToken] = [createSecret(), createSecret()];
      const session = createSession(body, { address, scopes, approvalToken, pollToken, now: now() });
      await addWaiting(store, { kind: "bootstrap", now: now() }, (transaction) =>
        transaction.insertInto("bootstrap_sessions").values(session).execute(),
      );
      return {
        session_id: session.id,
        approval_url: `${baseUrl}/install/${approvalToken}`,
        poll_url: `${baseUrl}/api/installer/bootstrap-sessions/${pollToken}`,
        expires_at: session.expires_at,
        status: session.status,
        poll_interval_ms: POLL_INTERVAL_MS,
        display_code: session.display_code,
        display: {
          title: "Approve this installation",
          summary: `Open the approval address and check that the page shows the code ${session.display_code}.`,
        },
      };
    },

    /** The session of an approval address, for the owner's page: from then on it is never dropped for another. */
    async open(approvalToken: string): Promise<BootstrapSession | undefined> {
      const hash = hashSecret(approvalToken);
      await markOpened(store, { kind: "bootstrap", hash, now: now() });
      const sessions = store.selectFrom("bootstrap_sessions").selectAll();
      const row = await sessions.where("approval_hash", "=", hash).executeTakeFirst();
      return row && { ...row, scopes: readScopes(row.scopes), status: readSessionStatus(row, now()) };
    },

    /** Approves or declines for the signed-in owner; false when the session no longer waits. */
    decide: (approvalToken: string, decision: KeyDecision) =>
      decideWaiting(parts, { ...decision, kind: "bootstrap", hash: hashSecret(approvalToken), now: now() }),

    /**
     * Status of a session. The first poll after the approval makes the key and hands out `install`; the session is
     * `consumed` then.
     *
     * @throws ServiceError 404, bare, when there is no such session.
     */
    poll: (pollToken: string) => pollSession(parts, hashSecret(pollToken)),
  };
}

/** The key is stored (hashed) and the session closed in one transaction before the reply exists. */
async function pollSession({ store, keys, now, baseUrl }: BootstrapParts, pollHash: string) {
  const at = new Date(now()).toISOString();
  return store.transaction().execute(async (transaction): Promise<BootstrapPollReply> => {
    const taken = await transaction
      .updateTable("bootstrap_sessions")
      .set({ status: "consumed" })
      .where("poll_hash", "=", pollHash)
      .where("status", "=", "approved")
      .where("expires_at", ">", at)
      .returningAll()
      .executeTakeFirst();
    if (taken?.account_id != null) {
      const label = taken.client_label ?? taken.hostname ?? "Unnamed client";
      const client = taken.agent ?? "installer";
      const session = taken.approval_hash;
      const { apiKey } = await keys.issue({ accountId: taken.account_id, label, client, session }, transaction);
      const install = { server_name: "svc", url: `${baseUrl}${MCP_PATH}`, headers: { [API_KEY_HEADER]: apiKey } };
      return { ...describePoll({ ...taken, status: "approved" }, now()), install };
    }
    const sessions = transaction.selectFrom("bootstrap_sessions").selectAll();
    const row = await sessions.where("poll_hash", "=", pollHash).executeTakeFirst();
    if (row !== undefined) return describePoll(row, now());
    throw refuseBare(404, "unknown_session", "This installer session is unknown. Start the installation again.");
  });
}

function describePoll(row: BootstrapRow, now: number): BootstrapPollReply {
  return {
    session_id: row.id,
    status: readSessionStatus(row, now),
    expires_at: row.expires_at,
    poll_interval_ms: POLL_INTERVAL_MS,
    scopes: readScopes(row.scopes),
  };
}

function createSession(
  body: Readonly<Record<string, unknown>>,
  o: { address: string; scopes: KeyScopes | undefined; approvalToken: string; pollToken: string; now: number },
) {
  const read = (name: string) => (typeof body[name] === "string" ? cleanText(body[name], MAX_FACT) : null);
  const agent = [read("agent_family"), read("agent_version")].filter((part) => part !== null).join(" ");
  return {
    id: createId("bts"),
    approval_hash: hashSecret(o.approvalToken),
    poll_hash: hashSecret(o.pollToken),
    display_code: createDisplayCode(),
    scopes: o.scopes ? JSON.stringify(o.scopes) : null,
    client_label: read("client_label"),
    hostname: read("hostname"),
    platform: read("platform"),
    agent: cleanText(agent, MAX_FACT),
    address: o.address,
    status: "awaiting_approval",
    created_at: new Date(o.now).toISOString(),
    expires_at: new Date(o.now + BOOTSTRAP_LIFETIME_MS).toISOString(),
  } as const;
}
