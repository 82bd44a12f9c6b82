import type { AuthorizationServer } from "oauth4webapi";
import { z } from "zod";
import { sha256Hex } from "../../../shared/base/hash.ts";
import { isPublicHost } from "../../fetch/address-rules.ts";
import type { SecretBox } from "../../secrets/secret-box.ts";
import type { Store } from "../../store/open-store.ts";
import type { FoundProvider } from "./find-provider.ts";
import { createProviderFetch, createRequestOptions } from "./provider-fetch.ts";
import { isRefused } from "./request-tokens.ts";
import { clientSchema, type KnownProvider, type ProviderClient, type ProviderServer } from "./sign-in-record.ts";

/** Path of the metadata document that says who this service is; one provider alone is told another, below `/oauth/client`. */
export const CLIENT_METADATA_PATH = "/oauth/client.json";

type Place = Pick<ProviderServer, "issuer" | "token_endpoint">;

/** Who this service is to each provider. */
export interface ProviderClients {
  /**
   * The metadata document of this service, or the one for a single provider; undefined where it has no public https address.
   *
   * @param id end of that provider's redirect address
   */
  describeSelf(id?: string): Readonly<Record<string, unknown>> | undefined;
  /**
   * The owner's own client, else this service's metadata document where the provider takes it, else the one registered
   * there, now or before. Undefined where the owner has to name a client.
   */
  find(
    provider: FoundProvider,
    o: { readonly flow: "code" | "client" | "device" },
  ): Promise<ProviderClient | undefined>;
  /** Keeps the owner's own client for a provider, encrypted. */
  keep(server: Place, client: ProviderClient): Promise<void>;
  /** Notes that the provider knows this client. */
  prove(server: Place, client: ProviderClient): Promise<void>;
}

/** Opens the clients of a store, which belong to one address of this service. */
export function createProviderClients(o: {
  store: Store;
  box: SecretBox;
  now: () => number;
  baseUrl: string;
  redirectUri: string;
}): ProviderClients {
  const { store, box, now, redirectUri } = o;
  const keyOf = ({ issuer, token_endpoint }: Place) => sha256Hex(JSON.stringify([issuer, token_endpoint, redirectUri]));
  const placeOf = (key: string) => `provider_clients.${key}`;

  async function read(key: string): Promise<StoredClient | undefined> {
    const row = await store.selectFrom("provider_clients").select("client").where("id", "=", key).executeTakeFirst();
    const opened = row === undefined ? undefined : box.open(row.client, placeOf(key));
    const client = opened === undefined ? undefined : storedSchema.parse(JSON.parse(opened));
    return client?.expiresAt === undefined || client.expiresAt > now() ? client : undefined;
  }

  async function write(server: Place, client: StoredClient): Promise<void> {
    const key = keyOf(server);
    const changed = {
      client_hash: hashClient(server, client),
      client: box.seal(JSON.stringify(client), placeOf(key)),
      updated_at: new Date(now()).toISOString(),
    };
    await store
      .insertInto("provider_clients")
      .values({ id: key, ...changed })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(changed))
      .execute();
  }

  return {
    describeSelf: (id) => createMetadata(o, id),

    async find(provider, { flow }) {
      const { server } = provider;
      const known = await read(keyOf(server));
      if (known !== undefined && !known.isRegistered) return known;
      // Any other client may use the provider's page only.
      if (flow !== "code") return undefined;
      const id = findOwnId(server);
      const metadata = createMetadata(o, id);
      const leadsTo = toRedirect(redirectUri, id);
      if (metadata !== undefined && server.client_id_metadata_document_supported === true) {
        return { clientId: metadata.client_id, authMethod: "none", isRegistered: false, redirectUri: leadsTo };
      }
      if (server.registration_endpoint === undefined) return known;
      // A provider that has forgotten us shows a page of its own, from which the owner does not come back.
      const isOld = (known?.redirectUri ?? redirectUri) !== leadsTo;
      const isNeeded = known === undefined || known.isUnproven === true || isOld;
      const client = (isNeeded ? await register(provider, leadsTo) : undefined) ?? known;
      if (client !== undefined) await write(server, { ...client, isUnproven: true });
      return client;
    },

    keep: (server, client) => write(server, { ...client, expiresAt: undefined }),

    async prove(server, { clientId }) {
      const known = await read(keyOf(server));
      if (known?.clientId === clientId && known.isUnproven === true)
        await write(server, { ...known, isUnproven: false });
    },
  };
}

/** Forgets a client that its provider does not know, or not any more. */
export async function forgetClient(
  store: Store,
  { server, client }: Pick<KnownProvider, "server" | "client">,
): Promise<void> {
  await store.deleteFrom("provider_clients").where("client_hash", "=", hashClient(server, client)).execute();
}

/** Another provider may give us the same id. */
function hashClient({ issuer, token_endpoint }: Place, { clientId }: ProviderClient): string {
  return sha256Hex(JSON.stringify([issuer, token_endpoint, clientId]));
}

const storedSchema = clientSchema.extend({
  /** Milliseconds since the epoch. */
  expiresAt: z.number().optional(),
  /** True from its use for a sign-in on, until one has ended well. */
  isUnproven: z.boolean().optional(),
});
type StoredClient = z.output<typeof storedSchema>;

/**
 * The end of the redirect address that is this provider's alone, so that an answer of another one is told apart (RFC 9700,
 * section 4.4); undefined for one whose answers name it (RFC 9207).
 */
function findOwnId({ issuer, token_endpoint, ...server }: ProviderServer): string | undefined {
  if (server.authorization_response_iss_parameter_supported === true) return undefined;
  return sha256Hex(JSON.stringify([issuer, token_endpoint])).slice(0, 16);
}

function createMetadata({ baseUrl, redirectUri }: { baseUrl: string; redirectUri: string }, id?: string) {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol !== "https:" || !isPublicHost(hostname)) return undefined;
  const path = id === undefined ? CLIENT_METADATA_PATH : `/oauth/client/${id}`;
  return { client_id: baseUrl + path, client_uri: baseUrl, ...describeClient(toRedirect(redirectUri, id)) };
}

/** The redirect address of one provider, or the one that all others share. */
export function toRedirect(redirectUri: string, id: string | undefined): string {
  return id === undefined ? redirectUri : `${redirectUri}/${id}`;
}

/** The same for each provider (RFC 7591) but for the address. */
function describeClient(redirectUri: string) {
  return {
    client_name: "svc",
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    application_type: redirectUri.startsWith("https:") ? "web" : "native",
  };
}

const registeredSchema = z.looseObject({
  client_id: z.string().min(1),
  client_secret: z.string().min(1).optional().catch(undefined),
  /** Seconds since the epoch; 0: never. */
  client_secret_expires_at: z.number().optional().catch(undefined),
  token_endpoint_auth_method: clientSchema.shape.authMethod.catch(undefined),
  redirect_uris: z.array(z.string()).optional().catch(undefined),
});

/** Registers this service with a provider (RFC 7591). Undefined where the provider refuses: the owner names a client then. */
async function register(provider: FoundProvider, redirectUri: string): Promise<StoredClient | undefined> {
  const given = await askForClient(provider, redirectUri).catch(async (error: unknown) => {
    if (await isRefused(error)) return undefined;
    throw error;
  });
  if (given === undefined) return undefined;
  const { client_secret: clientSecret, client_secret_expires_at: end = 0, redirect_uris: redirects } = given;
  if (redirects !== undefined && !redirects.includes(redirectUri)) {
    throw new Error("it registered this service with another redirect address");
  }
  const authMethod = given.token_endpoint_auth_method ?? (clientSecret === undefined ? "none" : given.method);
  return {
    clientId: given.client_id,
    isRegistered: true,
    redirectUri,
    ...(clientSecret !== undefined && authMethod !== "none" && { clientSecret }),
    authMethod,
    ...(end > 0 && { expiresAt: end * 1000 }),
  };
}

async function askForClient({ server, isPrivate }: FoundProvider, redirectUri: string) {
  const oauth = await import("oauth4webapi");
  const known = server.token_endpoint_auth_methods_supported;
  const methods = ["none", "client_secret_basic", "client_secret_post"] as const;
  const method = methods.find((one) => known?.includes(one)) ?? (known === undefined ? "client_secret_basic" : "none");
  const asked = { ...describeClient(redirectUri), token_endpoint_auth_method: method };
  const send = createProviderFetch(isPrivate);
  const options = await createRequestOptions(isPrivate, async (url, request) => toCreated(await send(url, request)));
  const answer = await oauth.dynamicClientRegistrationRequest(server as AuthorizationServer, asked, options);
  return { method, ...registeredSchema.parse(await oauth.processDynamicClientRegistrationResponse(answer)) };
}

/** Some providers answer 200, or leave out when a secret ends. */
async function toCreated(answer: Response): Promise<Response> {
  if (answer.status !== 200 && answer.status !== 201) return answer;
  const given: unknown = await answer.json().catch(() => undefined);
  const ends = { client_secret_expires_at: 0 };
  return Response.json(typeof given === "object" ? { ...ends, ...given } : given, { status: 201 });
}
