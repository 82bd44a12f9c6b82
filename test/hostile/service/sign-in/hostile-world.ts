import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { vi } from "vitest";
import { SYSTEM_NETWORK } from "../../../../src/service/fetch/guarded-connector.ts";
import { createFakeInternet } from "../../../service/fetch/fake-internet.ts";

/** One request that reached a host. */
interface Seen {
  readonly host: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly form: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a host answers: a JSON value with status 200, or anything else. */
type Route = object | ((response: ServerResponse, seen: Seen) => void);

/** Hosts of a made-up internet, played by one server; each secret that they give out names its host. */
export type HostileWorld = Awaited<ReturnType<typeof openWorld>>;

const PUBLIC = "93.184.215.14";
const INSIDE = "10.0.0.7";
/** `code~login.good.example~1` is a secret of that host, and so on. */
const SECRET = /(?:code|access|refresh|secret)~([\w.]+)~\d+/g;

/** Opens the world: every connection that the service makes ends here. `inside.example` has a private address. */
export async function openWorld() {
  const internet = createFakeInternet();
  const seen: Seen[] = [];
  const routes = new Map<string, Route>();
  let secrets = 0;
  // Also what would go past the made-up network, or is refused there.
  const made = new Set<string>();
  const note = (message: unknown) => {
    const { request } = message as { request: { origin: string | URL } };
    made.add(new URL(request.origin).host);
  };
  subscribe("undici:request:create", note);
  const server = createServer(async (request, response) => {
    response.on("error", () => undefined);
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const { host = "", ...headers } = request.headers;
    const body = Buffer.concat(parts).toString();
    const one = { host, path: request.url ?? "", headers, body, form: Object.fromEntries(new URLSearchParams(body)) };
    seen.push(one);
    const route = routes.get(`${host}${one.path}`);
    if (typeof route === "function") return route(response, one);
    response.writeHead(route === undefined ? 404 : 200, JSON_TYPE).end(JSON.stringify(route ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  for (const address of [PUBLIC, INSIDE]) internet.places.set(address, port);
  internet.names.set("inside.example", [[INSIDE]]);
  vi.spyOn(SYSTEM_NETWORK, "resolve").mockImplementation(internet.network.resolve);
  vi.spyOn(SYSTEM_NETWORK, "buildConnector").mockImplementation(internet.network.buildConnector);
  const give = (kind: "code" | "access" | "refresh" | "secret", host: string) => {
    secrets += 1;
    return `${kind}~${host}~${secrets}`;
  };
  const addHost = (host: string) => internet.names.set(host, [[PUBLIC]]);
  return {
    /** Every request of the service, in order. */
    seen,
    /** Addresses that the service connected to. */
    dials: internet.dials,
    give,
    /** Requests to a path of a host. */
    asked: (host: string, path: string) => seen.filter((one) => one.host === host && one.path === path),
    /** Answers `host/path` so. */
    on: (place: string, route: Route) => void routes.set(place, route),
    /** Adds an MCP server whose metadata name this provider. */
    addServer(host: string, login: string, more: object = {}) {
      addHost(host);
      const metadata = { resource: `https://${host}/mcp`, authorization_servers: [`https://${login}`], ...more };
      routes.set(`${host}/.well-known/oauth-protected-resource/mcp`, metadata);
    },
    /** Adds a provider that registers clients, gives tokens for the codes of its host, and rotates refresh tokens. */
    addProvider(host: string, more: object = {}) {
      addHost(host);
      const at = `https://${host}`;
      const metadata = {
        issuer: at,
        authorization_endpoint: `${at}/page`,
        token_endpoint: `${at}/token`,
        registration_endpoint: `${at}/register`,
        revocation_endpoint: `${at}/revoke`,
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["client_secret_post"],
        authorization_response_iss_parameter_supported: true,
        ...more,
      };
      routes.set(`${host}/.well-known/oauth-authorization-server`, metadata);
      routes.set(`${host}/register`, (response: ServerResponse, { body }: Seen) => {
        const client = { client_id: `client-of-${host}`, client_secret: give("secret", host) };
        answerJson(response, { ...JSON.parse(body), ...client, client_secret_expires_at: 0 }, 201);
      });
      routes.set(`${host}/token`, (response: ServerResponse) => answerJson(response, this.tokens(host)));
      routes.set(`${host}/revoke`, {});
    },
    tokens: (host: string, more: object = {}) => ({
      ...{ access_token: give("access", host), refresh_token: give("refresh", host) },
      ...{ token_type: "Bearer", expires_in: 3600, ...more },
    }),
    /** Secrets that reached another host than their own, and code verifiers that reached two. */
    listLeaks(): string[] {
      const verifiers = new Map<string, string>();
      return seen.flatMap(({ host, path, headers, body, form }) => {
        const basic = Buffer.from(headers.authorization?.replace(/^Basic /, "") ?? "", "base64").toString();
        const text = `${path} ${JSON.stringify(headers)} ${basic} ${body}`.replaceAll("%7E", "~");
        const leaks = [...text.matchAll(SECRET)].flatMap(([secret, owner]) =>
          owner === host ? [] : [`${secret} at ${host}`],
        );
        const verifier = form.code_verifier ?? host;
        const first = verifiers.get(verifier) ?? host;
        verifiers.set(verifier, first);
        return first === host ? leaks : [...leaks, `the verifier for ${first} at ${host}`];
      });
    },
    /** Hosts of requests that the service made, or tried to make, beside these. */
    listStrays: (allowed: readonly string[]) => [...made].filter((host) => !allowed.includes(host)),
    async close() {
      unsubscribe("undici:request:create", note);
      vi.restoreAllMocks();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const JSON_TYPE = { "content-type": "application/json" };

export function answerJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, JSON_TYPE).end(JSON.stringify(value));
}

/** Writes until nobody reads. */
export function answerEndlessly(response: ServerResponse): void {
  response.writeHead(200, JSON_TYPE);
  const write = () => {
    while (!response.destroyed && response.write(" ".repeat(64 * 1024)));
    if (!response.destroyed) response.once("drain", write);
  };
  write();
}

export function redirectTo(location: string) {
  return (response: ServerResponse) => void response.writeHead(307, { location }).end();
}
