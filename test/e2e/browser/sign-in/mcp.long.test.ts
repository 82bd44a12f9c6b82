import { expect, test } from "vitest";
import { startTestService } from "../../../../src/testing.ts";
import { startProtectedMcp } from "../../../service/sign-in/start-protected-mcp.ts";
import { startProvider } from "../../../service/sign-in/start-provider.ts";
import { judgeLooks } from "../chromium.ts";
import { addPlans } from "./add-plans.ts";
import { useDesk } from "./desk.ts";
import { FIND_PUBLIC, startPublicService } from "./public-service.ts";
import { agreeAtProvider, liveThrough, typeClient } from "./whole-life.ts";

/** Remote MCP servers whose provider registers nobody; every page is looked at in each look. */

const { keep, openPage } = useDesk([FIND_PUBLIC]);
const AT_PROVIDER = { host: "localhost", asks: true, lifetime: 2, registers: false } as const;

test("a service with a public address is known by its metadata document, which the provider gets", async () => {
  const service = keep(await startPublicService());
  const fetched: string[] = [];
  const fetch: typeof service.fetch = (url, init) => {
    fetched.push(String(url));
    return service.fetch(url, init);
  };
  const provider = keep(await startProvider({ ...AT_PROVIDER, takesMetadataDocuments: true, fetch }));
  const mcp = keep(await startProtectedMcp(provider));
  await liveThrough(await openPage(service), {
    ...(await addPlans(service, mcp)),
    judge: judgeLooks,
    signIn: (page, app) => agreeAtProvider(page, provider.url, app),
    revoke: provider.revokeAll,
  });
  expect(new Set(fetched)).toEqual(new Set([`${service.publicUrl}/oauth/client.json`]));
}, 120_000);

test("a client that the owner registered is typed once, and kept", async () => {
  const service = keep(await startTestService());
  const client = { id: "plans-of-ada", secret: "a-secret-of-the-plans-of-ada" };
  const redirect = {
    redirect_uris: [`${service.url}/signed-in`],
    grant_types: ["authorization_code", "refresh_token"],
  };
  const clients = [{ client_id: client.id, client_secret: client.secret, ...redirect }];
  const provider = keep(await startProvider({ ...AT_PROVIDER, clients }));
  const mcp = keep(await startProtectedMcp(provider));
  let isKnown = false;
  await liveThrough(await openPage(service), {
    ...(await addPlans(service, mcp)),
    judge: judgeLooks,
    async signIn(page, app) {
      if (!isKnown) await typeClient(page, client, app);
      isKnown = true;
      await agreeAtProvider(page, provider.url, app);
    },
    revoke: provider.revokeAll,
  });
}, 120_000);
