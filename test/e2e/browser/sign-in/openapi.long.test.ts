import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "vitest";
import { prepareOpenApi } from "../../../../src/apps/openapi/prepare-openapi.ts";
import { openSourceAdmin } from "../../../../src/service/added/open-source-admin.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { listenPausably } from "../../../service/pausable-server.ts";
import { startProvider, type TestProvider } from "../../../service/sign-in/start-provider.ts";
import { judgeLooks } from "../chromium.ts";
import { useDesk } from "./desk.ts";
import { agreeAtProvider, liveThrough, typeClient } from "./whole-life.ts";

/** APIs whose OpenAPI document says how to sign in; every page is looked at in each look. */

const { keep, openPage } = useDesk();
const AT_PROVIDER = { host: "localhost", asks: true, lifetime: 2, registers: false } as const;
const KEEPER = { id: "keeper-of-the-shelf", secret: "first-secret-of-the-keeper" };

/** An API that takes tokens of the provider, and adds itself to the service; the app in the words of `liveThrough`. */
async function addShelf(service: TestService, provider: TestProvider, flow: "authorizationCode" | "clientCredentials") {
  const tokens: string[] = [];
  const api = createServer(async (request, response) => {
    const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
    const isGood = (await provider.inspect(token)) !== undefined || (await provider.isOfClient(token));
    if (isGood && tokens.at(-1) !== token) tokens.push(token);
    response.writeHead(isGood ? 200 : 401, { "content-type": "application/json" }).end("[]");
  });
  const { port } = keep(await listenPausably(api));
  const ends = { authorizationUrl: `${provider.url}/auth`, tokenUrl: `${provider.url}/token` };
  const shop = { type: "oauth2", flows: { [flow]: { ...ends, scopes: { read: "See items" } } } };
  const document = {
    openapi: "3.1.0",
    info: { title: "Shelf", version: "1" },
    servers: [{ url: `http://127.0.0.1:${port}` }],
    components: { securitySchemes: { shop } },
    paths: { "/items": { get: { operationId: "list", summary: "Lists items.", security: [{ shop: ["read"] }] } } },
  };
  const folder = await mkdtemp(join(tmpdir(), "svc-shelf-"));
  const file = join(folder, "shelf.json");
  await writeFile(file, JSON.stringify(document));
  const place = { slug: "shelf", document: file, name: undefined, baseUrl: undefined };
  const { source } = await prepareOpenApi({ ...place, isPrivate: true, takesToken: false });
  const admin = await openSourceAdmin({ dataDir: service.dataDir });
  await admin.add(source);
  await admin.close();
  await rm(folder, { recursive: true });
  return { service, slug: "shelf", name: "Shelf", tool: "shelf_list", isReviewed: false, tokens } as const;
}

test("authorization code, by a client that the owner registered", async () => {
  const service = keep(await startTestService());
  const redirect = {
    redirect_uris: [`${service.url}/signed-in`],
    grant_types: ["authorization_code", "refresh_token"],
  };
  const clients = [{ client_id: KEEPER.id, client_secret: KEEPER.secret, ...redirect }];
  const provider = keep(await startProvider({ ...AT_PROVIDER, clients }));
  let isKnown = false;
  await liveThrough(await openPage(service), {
    ...(await addShelf(service, provider, "authorizationCode")),
    judge: judgeLooks,
    async signIn(page, app) {
      if (!isKnown) await typeClient(page, KEEPER, app);
      isKnown = true;
      await agreeAtProvider(page, provider.url, app);
    },
    revoke: provider.revokeAll,
  });
}, 120_000);

test("client credentials: the provider gives the client another secret, which the owner types", async () => {
  const service = keep(await startTestService());
  let secret = KEEPER.secret;
  const describe = () => ({
    client_id: KEEPER.id,
    client_secret: secret,
    grant_types: ["client_credentials"],
    redirect_uris: [],
    response_types: [],
  });
  const clients: ReturnType<typeof describe>[] = [describe()];
  const provider = keep(await startProvider({ ...AT_PROVIDER, clients }));
  await liveThrough(await openPage(service), {
    ...(await addShelf(service, provider, "clientCredentials")),
    judge: judgeLooks,
    signIn: (page, app) => typeClient(page, { id: KEEPER.id, secret }, app),
    revoke() {
      secret = "second-secret-of-the-keeper";
      clients[0] = describe();
      provider.forgetAll();
    },
  });
}, 120_000);
