import { afterEach, beforeEach, expect, test } from "vitest";
import { answerEndlessly, answerJson, type HostileWorld, openWorld, redirectTo } from "./hostile-world.ts";
import { openSignIns, refusal } from "./open-sign-ins.ts";

/** What a hostile MCP server, or the provider that it names, can say of where its users sign in. */

let world: HostileWorld;
let signIns: Awaited<ReturnType<typeof openSignIns>>;

beforeEach(async () => {
  world = await openWorld();
  signIns = await openSignIns();
  world.addProvider("good.example");
  world.addServer("evil-app.example", "evil.example");
  world.addProvider("evil.example");
});
afterEach(async () => {
  // Whatever it says, nobody else is asked, and no private address is dialled.
  expect(world.listStrays(["evil-app.example", "evil.example", "inside.example"])).toEqual([]);
  expect(world.dials).not.toContain("10.0.0.7");
  expect(world.listLeaks()).toEqual([]);
  await signIns.close();
  await world.close();
});

const RESOURCE = "evil-app.example/.well-known/oauth-protected-resource/mcp";
const PROVIDER = "evil.example/.well-known/oauth-authorization-server";
const cannot = (why: string, who = "App") =>
  `422 integration_misconfigured: The sign-in provider of ${who} cannot be used: ${why}.`;

test.each<[string, Parameters<HostileWorld["on"]>, string]>([
  [
    "names another server as its own",
    [RESOURCE, { resource: "https://good-app.example/mcp", authorization_servers: ["https://evil.example"] }],
    cannot("it says that its sign-in is for https://good-app.example/mcp", "https://evil-app.example"),
  ],
  [
    "names a neighbour on its own host",
    [
      RESOURCE,
      { resource: "https://evil-app.example/mcp-of-another", authorization_servers: ["https://evil.example"] },
    ],
    cannot("it says that its sign-in is for https://evil-app.example/mcp-of-another", "https://evil-app.example"),
  ],
  [
    "names a provider in words with control characters",
    [
      RESOURCE,
      { resource: "https://evil-app.example/mcp", authorization_servers: ["https://evil.example/?\u001b[31m"] },
    ],
    cannot("its name is not an address without a query (RFC 8414)", "https://evil.example/? [31m"),
  ],
  [
    "names a provider that is another one",
    [PROVIDER, { issuer: "https://good.example", token_endpoint: "https://evil.example/token" }],
    cannot("its metadata are those of another issuer", "evil.example"),
  ],
  [
    "has metadata without an end",
    [PROVIDER, answerEndlessly],
    cannot("https://evil.example says nothing of how to sign in"),
  ],
  [
    "leads its metadata elsewhere",
    [PROVIDER, redirectTo("https://good.example/m")],
    cannot("https://evil.example says nothing of how to sign in"),
  ],
  [
    "leads them to a private address",
    [PROVIDER, redirectTo("https://10.0.0.7/m")],
    cannot("https://evil.example says nothing of how to sign in"),
  ],
  ["has metadata that are a list", [PROVIDER, []], cannot("its metadata are those of another issuer", "evil.example")],
])("a server that %s is refused", async (_what, [place, route], expected) => {
  world.on(place, route);
  expect(await refusal(signIns.begin("evil-app.example"))).toBe(expected);
});

test.each<[string, object, string]>([
  ["tokens from a private address", { token_endpoint: "https://10.0.0.7/token" }, "https://10.0.0.7 is not public"],
  ["tokens from this machine", { token_endpoint: "https://localhost/token" }, "https://localhost is not public"],
  ["a page inside", { authorization_endpoint: "https://192.168.0.1/page" }, "https://192.168.0.1 is not public"],
  ["to register inside", { registration_endpoint: "https://[::1]/register" }, "https://[::1] is not public"],
  [
    "tokens without encryption",
    { token_endpoint: "http://evil.example/t" },
    "http://evil.example is no plain https address",
  ],
  ["a page of a script", { authorization_endpoint: "javascript:alert(1)" }, "it offers no sign-in of this kind"],
  ["no safe PKCE", { code_challenge_methods_supported: ["plain"] }, "it knows no safe form of PKCE (S256)"],
])("a provider that offers %s is refused before it is asked for anything", async (_what, more, why) => {
  world.addProvider("evil.example", more);
  expect(await refusal(signIns.begin("evil-app.example"))).toBe(cannot(why));
  expect(world.asked("evil.example", "/register")).toEqual([]);
});

test("a name that leads inside is refused when it is dialled", async () => {
  world.addProvider("evil.example", { registration_endpoint: "https://inside.example/register" });
  expect(await refusal(signIns.begin("evil-app.example"))).toBe(
    "503 provider_unavailable: The sign-in provider of App cannot be reached: inside.example has to be a public address",
  );
});

test("a server without metadata of its own is asked for those of a provider on its origin", async () => {
  world.addProvider("evil-app.example");
  world.on(RESOURCE, (response) => response.writeHead(404).end());
  const page = await signIns.findPage("evil-app.example");
  expect(page.origin + page.pathname).toBe("https://evil-app.example/page");
});

test("metadata that a 401 places on another origin are not looked at", async () => {
  const provider = {
    resource: "https://evil-app.example/mcp",
    resourceMetadata: "https://good.example/.well-known/oauth-protected-resource",
  };
  const page = await signIns.findPage("evil-app.example", { provider });
  expect(page.searchParams.get("resource")).toBe("https://evil-app.example/mcp");
  expect(world.seen[0]?.host).toBe("evil-app.example");
});

test("a provider that registers us for another redirect address is refused", async () => {
  world.on("evil.example/register", (response) =>
    answerJson(response, { client_id: "c", redirect_uris: ["https://evil.example/back"] }, 201),
  );
  expect(await refusal(signIns.begin("evil-app.example"))).toBe(
    "500 provider_error: The sign-in provider of App gave an answer that cannot be read: it registered this service with another redirect address",
  );
});

test("where a provider registers nobody, the owner is asked for a client", async () => {
  world.on("evil.example/register", (response) => answerJson(response, { error: "access_denied" }, 403));
  expect(await signIns.begin("evil-app.example")).toMatchObject({ kind: "client", provider: "evil.example" });
});

test("a page cannot preset what we ask for", async () => {
  const page =
    "https://evil.example/page?state=theirs&redirect_uri=https://evil.example/back&code_challenge_method=plain";
  world.addProvider("evil.example", { authorization_endpoint: page });
  const { searchParams } = await signIns.findPage("evil-app.example");
  expect(searchParams.getAll("redirect_uri")).toEqual(["https://svc.example/signed-in"]);
  expect([searchParams.getAll("state").length, searchParams.get("state")]).toEqual([
    1,
    expect.not.stringMatching(/^theirs$/),
  ]);
  expect(searchParams.getAll("code_challenge_method")).toEqual(["S256"]);
});
