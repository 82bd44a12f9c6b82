import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Principal } from "../auth/api-keys.ts";
import { createSecret } from "../auth/secrets.ts";
import { makeOnce } from "../make-once.ts";
import { MCP_PATH } from "../mcp/mcp-path.ts";
import { readNetwork } from "../registration/read-network.ts";
import type { ServiceLog } from "../service-log.ts";
import type { Store } from "../store/open-store.ts";
import type { ServiceKeys } from "../store/service-keys.ts";
import { createProvider } from "./create-provider.ts";
import { type ApprovedApp, createOAuthRecords } from "./oauth-records.ts";
import { readAccessToken } from "./read-access-token.ts";
import { createSigningKey, readSigningKey, type SigningKey } from "./signing-key.ts";

/** An access token that stands, and what it allows. */
interface OAuthCaller {
  readonly principal: Principal;
  readonly scopes: ReadonlySet<string>;
}

/** One request of an app that waits for the owner. */
interface PendingApproval {
  readonly id: string;
  readonly clientId: string;
  /** As the app calls itself; not to be believed. */
  readonly clientName: string | undefined;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
}

/** A request and its answer, which the OAuth library writes itself. */
interface RawExchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** OAuth 2.0 for the MCP endpoint: authorization code with PKCE, refresh, dynamic registration ("Authentication" 4). */
export interface OAuth {
  /** The caller of a bearer token, or undefined when the token is not genuine, has ended, or is for somebody else. */
  authenticate(token: string): Promise<OAuthCaller | undefined>;
  /** Apps that the account's owner approved, the last approved first. */
  listApps(accountId: string): Promise<ApprovedApp[]>;
  /** Withdraws every approval of an app, at once; false when there is none. */
  endApp(accountId: string, clientId: string): Promise<boolean>;
  /**
   * Lets the library answer one of its own addresses.
   *
   * @param address network address of the caller
   */
  answer(exchange: RawExchange, address: string): Promise<void>;
  /**
   * The request that this browser, in which the owner is signed in, was sent to our page with; undefined when it has ended
   * or is another browser's. From then on it does not give way to others.
   */
  findPending(exchange: RawExchange, id: string): Promise<PendingApproval | undefined>;
  /** Records the owner's decision; the address at which the request goes on. */
  decide(
    exchange: RawExchange,
    pending: PendingApproval,
    decision: { type: "approve"; accountId: string } | { type: "decline" },
  ): Promise<string>;
}

/** Creates the OAuth side of a service. The library is loaded by the first request that needs it. */
export function createOAuth(parts: {
  store: Store;
  serviceKeys: ServiceKeys;
  baseUrl: string;
  accountId: string;
  now: () => number;
  log: ServiceLog;
}): OAuth {
  const { baseUrl, now, serviceKeys } = parts;
  const resource = `${baseUrl}${MCP_PATH}`;
  const onError = (cause: unknown) => parts.log({ level: "error", message: "An OAuth request failed.", cause });
  const networks = new AsyncLocalStorage<string>();
  const records = createOAuthRecords({ ...parts, readNetwork: () => networks.getStore() ?? "" });
  const getKey = makeOnce(
    async (): Promise<SigningKey> => readSigningKey(await serviceKeys.read("oauth-signing", createSigningKey)),
  );
  const open = makeOnce(async () => {
    const cookieSecret = await serviceKeys.read("oauth-cookies", createSecret);
    const provider = await createProvider({ ...parts, resource, records, onError, key: await getKey(), cookieSecret });
    return { provider, respond: provider.callback() };
  });

  return {
    async authenticate(token) {
      const claims = readAccessToken(token, { key: await getKey(), issuer: baseUrl, audience: resource, now: now() });
      if (claims === undefined || claims.accountId !== parts.accountId) return undefined;
      if (!(await records.hasGrant(claims.grantId))) return undefined;
      const principal = { accountId: claims.accountId, apiKeyId: `oauth_${claims.clientId}` };
      return { principal, scopes: claims.scopes };
    },

    listApps: records.listApps,
    endApp: records.endApp,

    async answer({ incoming, outgoing }, address) {
      const { respond } = await open();
      // The library builds addresses from these; a caller must not choose them.
      const { host, protocol } = new URL(baseUrl);
      incoming.headers["x-forwarded-host"] = host;
      incoming.headers["x-forwarded-proto"] = protocol.slice(0, -1);
      // The library gives its store no more than the record.
      await networks.run(readNetwork(address), () => respond(incoming, outgoing));
    },

    async findPending({ incoming, outgoing }, id) {
      const { provider } = await open();
      const details = await provider.interactionDetails(incoming, outgoing).catch(() => undefined);
      if (details === undefined || details.uid !== id || details.result !== undefined) return undefined;
      const { client_id: clientId, redirect_uri: redirectUri, scope } = details.params;
      const client = await provider.Client.find(String(clientId));
      if (client === undefined || typeof redirectUri !== "string") return undefined;
      const scopes = typeof scope === "string" ? scope.split(" ") : [];
      await records.open({ requestId: id, clientId: client.clientId });
      return { id, clientId: client.clientId, clientName: client.clientName, redirectUri, scopes };
    },

    async decide({ incoming, outgoing }, pending, decision) {
      const { provider } = await open();
      if (decision.type === "decline") {
        const error = { error: "access_denied", error_description: "The owner of the service declined." };
        return provider.interactionResult(incoming, outgoing, error, { mergeWithLastSubmission: false });
      }
      const { accountId } = decision;
      const grant = new provider.Grant({ accountId, clientId: pending.clientId });
      const scope = pending.scopes.join(" ");
      grant.addOIDCScope(scope);
      grant.addResourceScope(resource, scope);
      const grantId = await grant.save();
      await records.keepClient(pending.clientId);
      const result = { login: { accountId, remember: false }, consent: { grantId } };
      return provider.interactionResult(incoming, outgoing, result, { mergeWithLastSubmission: false });
    },
  };
}
