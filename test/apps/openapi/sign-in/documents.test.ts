import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readOpenApiDefinition } from "../../../../src/apps/openapi/openapi-definition.ts";
import { planSignIn } from "../../../../src/apps/openapi/plan-sign-in.ts";
import { type ApiPlace, prepareOpenApi } from "../../../../src/apps/openapi/prepare-openapi.ts";
import { chooseScopes } from "../../../../src/apps/openapi/sign-in-scopes.ts";

/** Sign-ins as documents describe them: what is used of them, what is not, and what the owner is told before "Add?". */

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-sign-in-documents-"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function prepare(document: object, more: Partial<ApiPlace> = {}) {
  const file = join(folder, "document.json");
  await writeFile(file, JSON.stringify(document));
  const place = { slug: "shelf", document: file, name: undefined, baseUrl: undefined, isPrivate: false };
  const { source, notes } = await prepareOpenApi({ ...place, takesToken: false, ...more });
  const definition = readOpenApiDefinition(source.definition);
  const form = source.content.settingsForm;
  return { source, notes, definition, form, plan: (settings = {}) => planSignIn(definition, settings) };
}

const info = { title: "Shelf", version: "1" };
const servers = [{ url: "https://api.shelf.example.org/v1" }];
const list = { operationId: "list", security: [{ shop: [] }] };
const withScheme = (shop: object, more: object = {}) => ({
  ...{ openapi: "3.0.3", info, servers, paths: { "/items": { get: list } } },
  ...{ components: { securitySchemes: { shop } }, ...more },
});
const flows = (all: object) => ({ type: "oauth2", flows: all });
const code = (authorizationUrl: string, tokenUrl = "https://tokens.example.net/token") =>
  flows({ authorizationCode: { authorizationUrl, tokenUrl, scopes: {} } });

describe("what the owner is told before Add", () => {
  test("a sign-in at other origins than the API: all three are named", async () => {
    const { notes, plan } = await prepare(withScheme(code("https://accounts.example.org/authorize?tenant=7")));
    expect(notes).toEqual([
      "Its calls go to https://api.shelf.example.org/v1.",
      "You sign in at https://accounts.example.org; tokens come from https://tokens.example.net; calls go to https://api.shelf.example.org.",
    ]);
    expect(plan()).toMatchObject({
      flow: "code",
      isPrivate: false,
      provider: {
        authUrl: "https://accounts.example.org/authorize?tenant=7",
        tokenUrl: "https://tokens.example.net/token",
      },
    });
  });

  test.each([
    ["without encryption", code("http://accounts.example.org/a"), "http://accounts.example.org is not encrypted."],
    ["at a private address", code("https://192.168.1.5/a"), "192.168.1.5 is not a public host."],
    [
      "in the cloud's own network",
      code("https://a.example.org/a", "https://169.254.169.254/t"),
      "169.254.169.254 is not",
    ],
    ["with a password in it", code("https://me:secret-word@accounts.example.org/a"), "is to be the address alone."],
    ["of a script", code("javascript:alert(1)"), "javascript: is not the beginning of a web address."],
    [
      "with an open part",
      code("https://{tenant}.example.org/a"),
      "nothing says what {tenant} in its address stands for.",
    ],
    [
      "by implicit grant only",
      flows({ implicit: { authorizationUrl: "https://a.example.org/a" } }),
      "(implicit) is out of use.",
    ],
    ["by password only", flows({ password: { tokenUrl: "https://a.example.org/t" } }), "(password) is out of use."],
    [
      "of OpenID Connect at a private address",
      { type: "openIdConnect", openIdConnectUrl: "https://10.0.0.1/" },
      "10.0.0.1 is not",
    ],
  ])("a sign-in %s is not used: a pasted token takes its place", async (_what, scheme, problem) => {
    const { notes, form, definition, plan } = await prepare(withScheme(scheme));
    const [note = ""] = notes.filter((one) => one.startsWith("The sign-in “shop” is not used: "));
    expect(note).toContain(problem);
    expect(note).toContain("A token that you paste takes its place.");
    expect(notes.join()).not.toContain("secret-word");
    expect(form).toEqual([{ name: "shop", label: "Token", kind: "secret" }]);
    expect([definition.ways, plan()]).toEqual([[], undefined]);
  });

  test("a private sign-in is one with --private, and not otherwise", async () => {
    const { plan } = await prepare(withScheme(code("http://192.168.1.5/a", "http://192.168.1.5/t")), {
      isPrivate: true,
    });
    expect(plan()).toMatchObject({ isPrivate: true, provider: { tokenUrl: "http://192.168.1.5/t" } });
  });

  test("a part of the API's address may stand in that of the sign-in, and is filled in with it", async () => {
    const open = { servers: [{ url: "https://{shop}.example.com/admin", variables: { shop: {} } }] };
    const scheme = code("https://{shop}.example.com/oauth/authorize", "/oauth/token");
    const { plan, notes } = await prepare(withScheme(scheme, open));
    expect(notes).toContain(
      "You sign in at https://{shop}.example.com; tokens come from https://{shop}.example.com; calls go to https://{shop}.example.com.",
    );
    expect(plan({ shop: "ada" })?.provider).toEqual({
      authUrl: "https://ada.example.com/oauth/authorize",
      tokenUrl: "https://ada.example.com/oauth/token",
    });
    expect(() => plan({ shop: "evil.example.org/x#" })).toThrow("cannot be a part of an address");
    expect(() => plan()).toThrow('"shop" is needed');
  });
});

test("two sign-ins at one origin are one, with the ways of both; a token of it serves operations that name either", async () => {
  const tokenUrl = "https://accounts.example.org/token";
  const authorizationUrl = "https://accounts.example.org/auth";
  const securitySchemes = {
    Oauth2: flows({ implicit: { authorizationUrl, scopes: { all: "Everything" } } }),
    Oauth2c: flows({ authorizationCode: { authorizationUrl, tokenUrl, scopes: { all: "Everything" } } }),
    robots: flows({ clientCredentials: { tokenUrl, scopes: {} } }),
  };
  const security = [{ Oauth2: ["all"], Oauth2c: ["all"] }];
  const paths = { "/items": { get: { operationId: "list", security } }, "/r": { get: { security: [{ robots: [] }] } } };
  const { form, notes, definition } = await prepare({
    openapi: "3.0.3",
    info,
    servers,
    paths,
    components: { securitySchemes },
  });
  expect(form[0]?.options?.map(({ label }) => label)).toEqual([
    "Sign in at accounts.example.org",
    "Client id and secret of an app at accounts.example.org",
  ]);
  expect(form[1]?.options).toEqual([{ value: "all", label: "Everything", preselected: true }]);
  expect(notes.join()).not.toContain("out of use");
  expect(Object.keys(definition.schemes)).toEqual(["Oauth2c"]);
});

describe("sign-ins that the owner names", () => {
  const plain = withScheme({ type: "apiKey", in: "header", name: "X-Key" });
  test.each([
    ["a page", { authUrl: "https://a.example.org/a", tokenUrl: "https://a.example.org/t" }, ["code"]],
    [
      "a page and a device",
      { authUrl: "https://a.example.org/a", deviceUrl: "https://a.example.org/d", tokenUrl: "https://a.example.org/t" },
      ["code", "device"],
    ],
    ["tokens only", { tokenUrl: "https://a.example.org/t" }, ["client"]],
    ["an issuer", { issuer: "https://a.example.org/.well-known/openid-configuration" }, ["code"]],
  ])("%s", async (_what, addresses, expected) => {
    const { definition, plan } = await prepare(plain, { signIn: { ...addresses, scopes: ["a", "b"] } });
    expect(definition.ways.flatMap(({ signIn }) => signIn?.flow ?? [])).toEqual(expected);
    expect(plan()?.scopes).toEqual(["a", "b"]);
    if ("issuer" in addresses) expect(plan()?.provider).toEqual({ issuer: "https://a.example.org" });
  });

  test.each([
    [{ authUrl: "http://a.example.org/a", tokenUrl: "https://a.example.org/t" }, "--auth-url", "is not encrypted"],
    [{ authUrl: "https://a.example.org/a" }, "--token-url", "Nothing says where tokens come from."],
    [{ tokenUrl: "https://127.0.0.1/t" }, "--token-url", "127.0.0.1 is not a public host."],
    [{ issuer: "/relative" }, "--issuer", "its address cannot be read."],
  ])("%j is refused at %s", async (addresses, field, words) => {
    const asked = prepare(plain, { signIn: { ...addresses, scopes: [] } });
    await expect(asked).rejects.toMatchObject({ field, message: expect.stringContaining(words) });
  });
});

describe("scopes that are picked unless the owner picks others", () => {
  const read = (...ways: string[][]) => ({ method: "get", path: "/x", security: ways.map((shop) => ({ shop })) });
  test.each([
    ["as few as are enough", [read(["all"], ["see"]), read(["see"]), read(["all"])], ["see", "all"]],
    ["one for all where one of several is enough", [read(["all"], ["a"]), read(["all"], ["b"])], ["all"]],
    ["several that are needed together", [read(["a", "b"])], ["a", "b"]],
    ["none that only deleting needs", [read(["a"]), { ...read(["kill"]), method: "delete" }], ["a"]],
    [
      "none that only an administrator can use",
      [read(["a"]), read(["admin:org"]), { ...read(["z"]), path: "/admin/x" }],
      ["a"],
    ],
    ["none that is no scope", [read(["a"]), read(["b c"]), read(['"'])], ["a"]],
    ["none where none is named", [read([]), read()], []],
  ])("%s", (_what, operations, expected) => {
    expect(chooseScopes(operations, "shop").sort()).toEqual(expected.sort());
  });
});

test("Swagger 2.0: the address, arguments, files and the sign-in come through", async () => {
  const { definition, source, form, plan } = await prepare({
    ...{ swagger: "2.0", info, host: "api.shelf.example.org", basePath: "/v1", schemes: ["http", "https"] },
    securityDefinitions: {
      shop: {
        ...{ type: "oauth2", flow: "accessCode", scopes: { "items:read": "See items" } },
        authorizationUrl: "https://accounts.example.org/auth",
        tokenUrl: "https://accounts.example.org/token",
      },
      robot: { type: "oauth2", flow: "application", tokenUrl: "https://accounts.example.org/token", scopes: {} },
      key: { type: "apiKey", in: "header", name: "X-Key" },
    },
    definitions: { Item: { type: "object", required: ["name"], properties: { name: { type: "string" } } } },
    paths: {
      "/items": {
        get: {
          operationId: "list",
          parameters: [{ name: "tag", in: "query", type: "array", items: { type: "string" }, collectionFormat: "csv" }],
          security: [{ shop: ["items:read"] }, { key: [] }],
        },
        post: {
          operationId: "make",
          parameters: [{ name: "body", in: "body", required: true, schema: { $ref: "#/definitions/Item" } }],
          security: [{ shop: ["items:read"] }, { robot: [] }],
        },
      },
      "/files": {
        post: {
          operationId: "attach",
          consumes: ["multipart/form-data"],
          parameters: [{ name: "file", in: "formData", type: "file", required: true }],
          security: [{ key: [] }],
        },
      },
    },
  });
  expect(definition.baseUrl).toBe("https://api.shelf.example.org/v1");
  const [get, post, attach] = source.content.actions;
  expect(get?.call).toMatchObject({ parameters: [{ name: "tag", style: "simple", explode: false }] });
  expect(post?.inputSchema).toMatchObject({ required: ["name"], properties: { name: { type: "string" } } });
  expect(attach?.inputSchema).toMatchObject({ properties: { file: { file_uploadable: true } } });
  expect(form[0]?.options?.map(({ label }) => label)).toEqual([
    "Sign in at accounts.example.org (for 2 of 3 actions)",
    "Client id and secret of an app at accounts.example.org (for 2 of 3 actions)",
    "Key in the header X-Key (for 2 of 3 actions)",
  ]);
  expect(plan()).toMatchObject({ scopes: ["items:read"], provider: { authUrl: "https://accounts.example.org/auth" } });
});

/** In the shape of the document of Google Tasks, and of one whose resources are named by paths. */
const DISCOVERY = {
  ...{ kind: "discovery#restDescription", discoveryVersion: "v1", id: "tasks:v1", title: "Tasks API", version: "v1" },
  ...{ description: "Lets you manage your tasks.", rootUrl: "https://www.googleapis.com/", servicePath: "tasks/v1/" },
  parameters: {
    alt: { type: "string", location: "query", enum: ["json"], default: "json" },
    fields: { type: "string", location: "query" },
    key: { type: "string", location: "query", description: "API key." },
    oauth_token: { type: "string", location: "query" },
  },
  auth: {
    oauth2: {
      scopes: {
        "https://www.googleapis.com/auth/tasks": { description: "Manage your tasks" },
        "https://www.googleapis.com/auth/tasks.readonly": { description: "View your tasks" },
      },
    },
  },
  schemas: {
    Task: {
      id: "Task",
      type: "object",
      properties: {
        title: { type: "string", required: true },
        due: { type: "string", format: "date-time" },
        links: { type: "array", items: { type: "object", properties: { link: { type: "string" } } } },
        parent: { $ref: "Task" },
        more: { type: "any" },
      },
    },
  },
  resources: {
    tasks: {
      methods: {
        list: {
          ...{ id: "tasks.tasks.list", path: "lists/{tasklist}/tasks", httpMethod: "GET", description: "Lists tasks." },
          parameters: {
            tasklist: { type: "string", required: true, location: "path" },
            ids: { type: "string", repeated: true, location: "query" },
            maxResults: { type: "integer", format: "int32", minimum: "1", maximum: "100", location: "query" },
          },
          scopes: ["https://www.googleapis.com/auth/tasks", "https://www.googleapis.com/auth/tasks.readonly"],
        },
        insert: {
          ...{ id: "tasks.tasks.insert", path: "lists/{tasklist}/tasks", httpMethod: "POST" },
          parameters: { tasklist: { type: "string", required: true, location: "path" } },
          request: { $ref: "Task" },
          scopes: ["https://www.googleapis.com/auth/tasks"],
        },
      },
      resources: {
        named: {
          methods: {
            get: {
              ...{ id: "tasks.named.get", path: "v1/{+name}", httpMethod: "GET" },
              parameters: { name: { type: "string", required: true, location: "path" } },
            },
          },
        },
      },
    },
  },
};

test("Google Discovery: address, arguments and sign-in come through, and the scope that serves most is picked", async () => {
  const { definition, source, form, notes, plan } = await prepare(DISCOVERY);
  expect(definition.baseUrl).toBe("https://www.googleapis.com/tasks/v1");
  expect(source.name).toBe("Tasks API");
  const [listed, insert, named] = source.content.actions;
  expect([listed?.id, listed?.level, insert?.id, insert?.level]).toEqual([
    ...["tasks_tasks_list", "read", "tasks_tasks_insert", "write"],
  ]);
  expect(listed?.inputSchema).toMatchObject({
    required: ["tasklist"],
    properties: {
      ids: { type: "array", items: { type: "string" } },
      maxResults: { type: "integer", minimum: 1, maximum: 100 },
    },
  });
  expect(Object.keys(listed?.inputSchema.properties ?? {})).toEqual(["alt", "fields", "tasklist", "ids", "maxResults"]);
  expect(insert?.inputSchema).toMatchObject({
    required: ["tasklist", "title"],
    properties: { due: { description: "Format: date-time." } },
  });
  expect(named?.call).toMatchObject({
    path: "/v1/{name}",
    parameters: [{}, {}, { name: "name", allowReserved: true }],
  });
  expect(notes).toContain(
    "You sign in at https://accounts.google.com; tokens come from https://oauth2.googleapis.com; calls go to https://www.googleapis.com.",
  );
  expect(form[0]?.options?.map(({ label }) => label)).toEqual([
    "Sign in at accounts.google.com (for 2 of 3 actions)",
    "Key in the parameter key (for 1 of 3 actions)",
  ]);
  expect(plan()).toMatchObject({
    scopes: ["https://www.googleapis.com/auth/tasks"],
    params: { access_type: "offline", prompt: "consent" },
    keepsRefreshTokens: true,
    provider: { tokenUrl: "https://oauth2.googleapis.com/token" },
  });
});
