import { expect, test } from "vitest";
import { startTestService } from "../../../../src/testing.ts";
import { startProtectedMcp } from "../../../service/sign-in/start-protected-mcp.ts";
import { startProvider } from "../../../service/sign-in/start-provider.ts";
import { findBarriers } from "../chromium.ts";
import { addPlans } from "./add-plans.ts";
import { useDesk } from "./desk.ts";
import { agreeAtProvider, liveThrough } from "./whole-life.ts";

const { keep, openPage } = useDesk();

test("a remote MCP server is signed in to by a client that the service registers", async () => {
  const provider = keep(await startProvider({ host: "localhost", asks: true, lifetime: 2 }));
  const mcp = keep(await startProtectedMcp(provider));
  const service = keep(await startTestService());
  const plans = await addPlans(service, mcp);
  await liveThrough(await openPage(service), {
    ...plans,
    judge: findBarriers,
    signIn: (page, app) => agreeAtProvider(page, provider.url, app),
    revoke: provider.revokeAll,
  });
  expect(provider.seen.filter(({ path }) => path === "/reg")).toHaveLength(1);
}, 60_000);
