import { once } from "node:events";
import { createServer } from "node:http";

/** One request to the token endpoint. */
interface SeenTokenRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
}

/** What the endpoint does instead of giving a token. */
interface TokenFault {
  readonly status: number;
  readonly body: string;
}

/** A sign-in provider on loopback whose refresh tokens are good for one use. */
export interface TokenServer {
  readonly url: string;
  readonly seen: SeenTokenRequest[];
  /** Seconds an access token lasts; undefined: the answer does not say. */
  lifetime: number | undefined;
  /** Each next answer instead of a token. */
  readonly faults: TokenFault[];
  /** Holds back answers until it resolves. */
  held: Promise<void>;
  /** Codes of finished sign-ins. */
  readonly codes: Set<string>;
  /** The one that is good now. */
  refreshToken(): string;
  close(): Promise<void>;
}

/** @param issue told of each access token. The first refresh token is `refresh-0`. */
export async function startTokenServer(issue: (token: string) => void = () => {}): Promise<TokenServer> {
  let issued = 0;
  const state: TokenServer = {
    url: "",
    seen: [],
    lifetime: 3600,
    faults: [],
    held: Promise.resolve(),
    codes: new Set(),
    refreshToken: () => `refresh-${issued}`,
    close: async () => {},
  };
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const params = Object.fromEntries(new URLSearchParams(Buffer.concat(parts).toString()));
    state.seen.push({ params, authorization: request.headers.authorization });
    await state.held;
    const answer = (status: number, body: string) =>
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    const fault = state.faults.shift();
    if (fault !== undefined) return void answer(fault.status, fault.body);
    const isKnown = params.refresh_token === state.refreshToken() || state.codes.delete(params.code ?? "");
    if (!isKnown) {
      const error = {
        error: "invalid_grant",
        error_description: `Token ${params.refresh_token}\u001b[31m was revoked.`,
      };
      return void answer(400, JSON.stringify(error));
    }
    issued += 1;
    issue(`access-${issued}`);
    const times = state.lifetime === undefined ? {} : { expires_in: state.lifetime };
    const tokens = { access_token: `access-${issued}`, refresh_token: `refresh-${issued}`, token_type: "Bearer" };
    answer(200, JSON.stringify({ ...tokens, ...times, team: "blue" }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return Object.assign(state, {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/token`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
