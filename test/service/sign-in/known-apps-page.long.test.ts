import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { McpDefinition } from "../../../src/apps/mcp/connect-mcp.ts";
import { prepareMcp } from "../../../src/apps/mcp/read-mcp-tools.ts";
import { openSourceAdmin, type SourceAdmin } from "../../../src/service/added/open-source-admin.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { startHttpMcpServer } from "../../apps/mcp/http-server.ts";
import { findStore } from "../find-store.ts";
import { execute } from "../http-calls.ts";
import { type Owner, openOwner } from "./owner.ts";
import { type ProtectedMcp, startProtectedMcp } from "./start-protected-mcp.ts";
import { startProvider, type TestProvider } from "./start-provider.ts";

/** An app that the owner adds on the connections page, with a local server in its place. */

vi.mock("../../../src/apps/mcp/read-mcp-tools.ts", { spy: true });

let provider: TestProvider;
let mcp: ProtectedMcp;
let service: TestService;
let admin: SourceAdmin;
let owner: Owner;

beforeAll(async () => {
  provider = await startProvider();
  mcp = await startProtectedMcp(provider);
  service = await startTestService();
  admin = await openSourceAdmin({ dataDir: service.dataDir, ...(await findStore(service.dataDir)) });
  owner = await openOwner(service);
}, 60_000);

afterEach(() => {
  vi.mocked(prepareMcp).mockReset();
});

afterAll(async () => {
  await admin?.close();
  await service?.close();
  await mcp?.close();
  await provider?.close();
});

const open = (path: string) => owner.browser.open(`${service.url}${path}`);
const added = async () => (await admin.list()).map(({ slug }) => slug);

/** Lets a local server stand at the address that is asked for next; the result takes the place that was asked for. */
async function standIn(url: string): Promise<{ readonly asked: McpDefinition[] }> {
  const { prepareMcp: real } = await vi.importActual<typeof import("../../../src/apps/mcp/read-mcp-tools.ts")>(
    "../../../src/apps/mcp/read-mcp-tools.ts",
  );
  const asked: McpDefinition[] = [];
  vi.mocked(prepareMcp).mockImplementationOnce((place, ...rest) => {
    asked.push(place.definition);
    const definition = { ...place.definition, url, isPrivate: true } as McpDefinition;
    return real({ ...place, definition }, ...rest);
  });
  return { asked };
}

test("an app is added, signed in to and allowed on pages alone, and can be called then", async () => {
  const { asked } = await standIn(mcp.url);
  expect((await owner.submit("/apps/linear/add", {})).headers.location).toBe("/connect/linear");
  expect(asked).toEqual([
    { transport: "http", url: "https://mcp.linear.app/mcp", headers: [], isPrivate: false, trusted: true },
  ]);
  expect(await owner.signIn("/connect/linear")).toBe("/apps/linear/review");
  const [, digest = ""] = /name="digest" value="([^"]+)"/.exec((await open("/apps/linear/review")).text) ?? [];
  await owner.submit("/apps/linear/accept", { digest });
  expect((await execute(service, "linear_look")).json).toMatchObject({ ok: true });
  expect((await execute(service, "linear_note", { arguments: { text: "x" } })).status).toBe(412);
  const { text } = await open("/connections?find=linear");
  expect(text).not.toContain('action="/apps/linear/add"');
});

test("one that is there already is not added again", async () => {
  const before = await admin.find("linear");
  expect((await owner.submit("/apps/linear/add", {})).headers.location).toBe("/connect/linear");
  expect(await admin.find("linear")).toEqual(before);
  expect(prepareMcp).not.toHaveBeenCalled();
});

test("an address in the form counts for nothing", async () => {
  const { asked } = await standIn("http://127.0.0.1:9/mcp");
  await owner.submit("/apps/notion/add", { url: "http://127.0.0.1:1/", command: "touch x", address: "file:///x" });
  expect(asked).toMatchObject([{ url: "https://mcp.notion.com/mcp", isPrivate: false }]);
});

test("a server that cannot be reached leaves nothing behind", async () => {
  await standIn("http://127.0.0.1:9/mcp");
  const { location } = (await owner.submit("/apps/notion/add", {})).headers;
  expect(location).toBe("/connections?notice=unreachable");
  expect((await open(String(location))).text).toContain("could not be reached, so nothing was added");
  expect(await added()).toEqual(["linear"]);
});

test("a server that asks for no sign-in is not added without a look at its actions", async () => {
  const plain = await startHttpMcpServer();
  await standIn(plain.url);
  const { location } = (await owner.submit("/apps/notion/add", {})).headers;
  expect(location).toBe("/connections?notice=open");
  expect(await added()).toEqual(["linear"]);
  await plain.close();
});
