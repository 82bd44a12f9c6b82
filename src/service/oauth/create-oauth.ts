import type { IncomingMessage, ServerResponse } from "node:http";
import type { Provider } from "oidc-provider";
import { makeOnce } from "../../shared/base/concurrency.ts";
import { MCP_PATH } from "../../shared/wire/mcp.ts";
import type { Principal } from "../auth/api-keys.ts";
import { type Grants, isExpired, toSubject } from "../auth/grants.ts";
import { createSecret, deriveToken, isSameHash } from "../auth/secrets.ts";
import type { ServiceKeys } from "../secrets/service-keys.ts";
import type { ServiceLog } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import { createSigningKey, readAccessToken, readSigningKey } from "./access-token.ts";
import { createProvider, type RenderRefusal } from "./create-provider.ts";
import { createOAuthRecords, type OAuthRecords } from "./oauth-records.ts";

/** OAuth 2.0 for the MCP endpoint: authorization code with PKCE, refresh, dynamic registration ("Authentication" 4). */
export type OAuth = ReturnType<typeof createOAuth>;

/** Creates the OAuth side of a service. The library is loaded by the first request that needs it. */
export function createOAuth(parts: {
  store: Store;
  serviceKeys: ServiceKeys;
  grants: Grants;
  baseUrl: string;
  accountId: string;
  now: () => number;
  log: ServiceLog;
  renderRefusal: RenderRefusal;
}) {
  const { baseUrl, now, serviceKeys } = parts;
  const resource = `${baseUrl}${MCP_PATH}`;
  const onError = (cause: unknown) => parts.log({ level: "error", message: "An OAuth request failed.", cause });
  const records = createOAuthRecords(parts);
  const getKey = makeOnce(async () => readSigningKey(await serviceKeys.read("oauth-signing", createSigningKey)));
  const open = makeOnce(async () => {
    const cookieSecret = await serviceKeys.read("oauth-cookies", createSecret);
    const provider = await createProvider({ ...parts, resource, records, onError, key: await getKey(), cookieSecret });
    return { provider, cookieSecret, respond: provider.callback() };
  });

  return {
    /**
     * The caller of a bearer token and its scopes; undefined when it is not genuine, has ended, or is for another resource,
     * `expired` when the time that the owner gave the app is over.
     */
    async authenticate(
      token: string,
    ): Promise<{ principal: Principal; scopes: ReadonlySet<string> } | "expired" | undefined> {
      const rules = { key: await getKey(), issuer: baseUrl, audience: resource, now: now() };
      const claims = await readAccessToken(token, rules);
      if (claims === undefined || claims.accountId !== parts.accountId) return undefined;
      if (!(await records.hasGrant(claims.grantId))) return undefined;
      const principal = { accountId: claims.accountId, apiKeyId: toSubject(claims.clientId) };
      if (isExpired((await parts.grants.read(principal.apiKeyId)).expiresAt, now())) return "expired";
      return { principal, scopes: claims.scopes };
    },

    listApps: records.listApps,
    endApp: records.endApp,

    /** Lets the library answer one of its own addresses. */
    async answer({ incoming, outgoing }: RawExchange): Promise<void> {
      const { respond } = await open();
      // The library builds addresses from these; a caller must not choose them.
      const { host, protocol } = new URL(baseUrl);
      incoming.headers["x-forwarded-host"] = host;
      incoming.headers["x-forwarded-proto"] = protocol.slice(0, -1);
      await respond(incoming, outgoing);
    },

    ...createOAuthDecisions({ ...parts, open, records, resource }),
  };
}

interface PendingApproval {
  readonly id: string;
  readonly clientId: string;
  /** As the app calls itself; not to be believed. */
  readonly clientName: string | undefined;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
}

type Decision = "approve" | "decline";

/** A request and its answer, which the OAuth library writes itself. */
interface RawExchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** How long a decision may be on its way, in milliseconds. */
const SIGNED_MS = 60_000;

/**
 * The owner's decisions about apps. The owner decides at the session path of a browser. The cookie that identifies the
 * browser of a request is not sent there, so the decision is signed and carried to an address that gets it.
 */
function createOAuthDecisions(parts: {
  open: () => Promise<{ provider: Provider; cookieSecret: string }>;
  records: OAuthRecords;
  /** The one resource that tokens are good for. */
  resource: string;
  accountId: string;
  now: () => number;
}) {
  const { open, records, accountId, now } = parts;

  /** True in the browser that was sent to our page with this request. */
  async function isBegunHere({ incoming, outgoing }: RawExchange, id: string): Promise<boolean> {
    const { provider } = await open();
    const details = await provider.interactionDetails(incoming, outgoing).catch(() => undefined);
    return details?.uid === id;
  }

  /** A request that waits, for the owner's page: from then on it is never dropped for another. */
  async function findPending(id: string): Promise<PendingApproval | undefined> {
    const { provider } = await open();
    const request = await records.findRequest(id);
    if (request === undefined || request.result !== undefined) return undefined;
    const { client_id: clientId, redirect_uri: redirectUri, scope } = request.params ?? {};
    const client = await provider.Client.find(String(clientId));
    if (client === undefined || typeof redirectUri !== "string") return undefined;
    const scopes = typeof scope === "string" ? scope.split(" ") : [];
    await records.open({ requestId: id, clientId: client.clientId });
    return { id, clientId: client.clientId, clientName: client.clientName, redirectUri, scopes };
  }

  async function approve(provider: Provider, { clientId, scopes }: PendingApproval) {
    const grant = new provider.Grant({ accountId, clientId });
    const scope = scopes.join(" ");
    grant.addOIDCScope(scope);
    grant.addResourceScope(parts.resource, scope);
    const grantId = await grant.save();
    await records.keepClient(clientId);
    return { login: { accountId, remember: false }, consent: { grantId } };
  }

  return {
    isBegunHere,
    findPending,

    /** A decision in the form that `finish` takes for a minute. */
    async sign(id: string, decision: Decision): Promise<string> {
      return signDecision((await open()).cookieSecret, { id, decision, until: now() + SIGNED_MS });
    },

    /**
     * Carries out a decision in the browser that began the request; the address at which the request goes on, or
     * undefined when the decision is not genuine or too old, or the request has ended or is another browser's.
     */
    async finish(exchange: RawExchange, id: string, signed: string): Promise<string | undefined> {
      const { provider, cookieSecret } = await open();
      const [decision, end] = signed.split(".");
      if (decision !== "approve" && decision !== "decline") return undefined;
      const until = Number(end);
      if (!isSameHash(signed, signDecision(cookieSecret, { id, decision, until })) || until < now()) return undefined;
      const pending = (await isBegunHere(exchange, id)) ? await findPending(id) : undefined;
      if (pending === undefined) return undefined;
      const result = decision === "approve" ? await approve(provider, pending) : DECLINED;
      const { incoming, outgoing } = exchange;
      return provider.interactionResult(incoming, outgoing, result, { mergeWithLastSubmission: false });
    },
  };
}

const DECLINED = { error: "access_denied", error_description: "The owner of the service declined." };

function signDecision(secret: string, o: { id: string; decision: Decision; until: number }): string {
  const claim = `${o.decision}.${o.until}`;
  return `${claim}.${deriveToken(secret, `decision ${claim} ${o.id}`)}`;
}
