import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { builtInIntegrations } from "../../../../src/apps/built-in.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { createVault } from "../../connections/vault-integration.ts";
import { readStored } from "../../find-store.ts";
import { execute, type Reply } from "../../http-calls.ts";
import { type Browser, openBrowser, readCsrf } from "./browser.ts";

const vault = createVault();
let service: TestService;
let browser: Browser;
let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "svc-connect-")));
  service = await startTestService({ integrations: [...builtInIntegrations, vault.integration] });
  browser = openBrowser();
  await browser.open(await service.service.signInUrl());
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

const open = (path: string): Promise<Reply> => browser.open(`${service.url}${path}`);
async function submit(path: string, fields: Record<string, string>, from = path): Promise<Reply> {
  return browser.submit(`${service.url}${path}`, { csrf: readCsrf(await open(from)), ...fields });
}
const list = (integration: string) => service.service.connections.list(integration);
const VAULT = { label: "Team vault", "set.address": "https://vault.example", "set.token": "abc", access: "full" };

describe("fields that few people need", () => {
  const folds = ({ text }: Reply): Record<string, { open: boolean; names: string[] }> => {
    const found = text.matchAll(/<details class="more"( open)?><summary>([^<]*)<\/summary>([\s\S]*?)<\/details>/g);
    const entries = [...found].map(([, open, heading = "", inner = ""]) => {
      const names = [...inner.matchAll(/name="set\.(\w+)"/g)].map(([, name = ""]) => name);
      return [heading, { open: open !== undefined, names }] as const;
    });
    return Object.fromEntries(entries);
  };

  test("are folded away behind the others", async () => {
    const page = await open("/connect/mail?all");
    expect(folds(page)).toEqual({
      "Your name and user name": { open: false, names: ["name", "user"] },
      Encryption: { open: false, names: ["imapSecurity", "smtpSecurity", "ca"] },
      Sending: { open: false, names: ["sendDelay"] },
      "Another sign-in provider (OAuth2)": { open: false, names: ["issuer", "authUrl", "tokenUrl", "scopes"] },
      "A folder instead of servers": { open: false, names: ["maildir"] },
    });
    expect(page.text.indexOf('name="set.password"')).toBeLessThan(page.text.indexOf('<details class="more"'));
    expect(page.text).not.toMatch(/set-maildir">[^<]*<span class="optional"/);
  });

  test("are seen where one of them is wrong or was filled in, and where a connection uses them", async () => {
    const wrong = { label: "", access: "full", "set.address": "me@example.org", "set.maildir": "relative" };
    const page = await submit("/connect/mail", { ...wrong, "set.imapSecurity": "automatic", "set.authUrl": "mine" });
    expect(page.status).toBe(400);
    expect(page.text).toMatch(/<a href="#set-maildir">/);
    expect(Object.entries(folds(page)).flatMap(([heading, { open }]) => (open ? [heading] : []))).toEqual([
      "Another sign-in provider (OAuth2)",
      "A folder instead of servers",
    ]);
    const settings = { address: "me@example.org", authUrl: "https://provider.test/page" };
    const { id } = await service.service.connections.add({ integration: "mail", label: "Mail", settings });
    const again = folds(await open(`/connections/${id}/reconnect`));
    expect(Object.values(again).map(({ open }) => open)).toEqual([false, false, false, true, false]);
  });
});

describe("a form that begins with one setting", () => {
  const listNames = ({ text }: Reply) => [...text.matchAll(/name="set\.(\w+)"/g)].map(([, name]) => name);

  test("asks for it alone, fills in the others, and stores nothing", async () => {
    const first = await open("/connect/mail");
    expect(listNames(first)).toEqual(["address"]);
    expect(first.text).toContain('href="/connect/mail?all"');
    const page = await submit("/connect/mail", { step: "first", "set.address": "ana@gmail.com" });
    expect(page.status).toBe(200);
    expect(page.text).toMatch(/id="set-address"[^>]* value="ana@gmail.com"/);
    expect(page.text).toMatch(/id="set-imapHost"[^>]* value="imap.gmail.com"/);
    expect(page.text).toContain('<option value="google" selected>');
    expect(page.text).toContain("These are the servers of Google.");
    expect(page.text).toContain('<details class="more"><summary>Password or access token</summary>');
    expect(page.text).toContain('<input id="label" name="label" value="ana@gmail.com"');
    expect(await list("mail")).toHaveLength(1);
  });

  test("says at its field when it cannot be used, and keeps it", async () => {
    const page = await submit("/connect/mail", { step: "first", "set.address": "Ana" });
    expect([page.status, listNames(page)]).toEqual([400, ["address"]]);
    expect(page.text).toMatch(/id="set-address-problem">[^<]*own address/);
    expect(page.text).toMatch(/id="set-address"[^>]* value="Ana"/);
  });

  test("goes on where nothing is found", async () => {
    const page = await submit("/connect/mail", { step: "first", "set.address": "me@localhost" });
    expect([page.status, listNames(page).includes("maildir")]).toEqual([200, true]);
    expect(page.text).toContain("No servers were found for localhost.");
  });
});

describe("the list of connections", () => {
  const find = async (words: string) => {
    const { text } = await open(`/connections?find=${encodeURIComponent(words)}`);
    return { text, apps: [...text.matchAll(/<h2 id="app-(\w+)"/g)].map(([, slug]) => slug) };
  };

  test.each([
    ["  VAULT token", ["vault"]],
    ["local drive", ["drive"]],
    ["local mailbox", ["mail"]],
    ["sesame team", ["vault"]],
    ["zzz", []],
  ])("is searched for %j by app and connection", async (words, slugs) => {
    await service.service.connections.add({
      integration: "vault",
      label: "Team sésame".normalize("NFD"),
      settings: {},
    });
    expect((await find(words.replace("sesame", "sésame"))).apps).toEqual(slugs);
    expect((await find("")).apps).toEqual(expect.arrayContaining(["drive", "mail", "notes", "vault"]));
  });

  test("says what was searched for, as text, and leads back to all", async () => {
    const { text } = await find("<b>");
    expect(text).toContain('value="&lt;b&gt;"');
    expect(text).toMatch(/>0 of your \d+ apps\. <a href="\/connections">Show all<\/a>/);
  });

  test("an account that nothing has tried does not say that it is connected", async () => {
    const settings = { address: "https://vault.example", token: "fresh" };
    const { id } = await service.service.connections.add({ integration: "vault", label: "Team vault", settings });
    const rowOf = async (path: string) => {
      const { text } = await open(path);
      return new RegExp(`/connections/${id}">[\\s\\S]*?class="tag \\w+">([^<]+)`).exec(text)?.[1];
    };
    for (const path of ["/", "/connections"]) expect(await rowOf(path)).toBe("Not tried yet");
    expect((await open(`/connections/${id}`)).text).toContain("no successful call of it");
    expect((await execute(service, "vault_look")).status).toBe(200);
    for (const path of ["/", "/connections"]) expect(await rowOf(path)).toBe("Connected");
    expect((await open(`/connections/${id}`)).text).not.toContain("no successful call of it");
    // A folder was looked at when it was connected.
    expect((await open("/connections")).text).toMatch(/Local drive<[\s\S]*?class="tag ok">Connected/);
  });
});

describe("connecting an app", () => {
  test("asks for what the app needs and connects it", async () => {
    const page = await open("/connect/vault");
    expect(page.text).toMatch(/<input id="set-address" name="set.address" type="text"/);
    expect(page.text).toMatch(/<input id="set-token" name="set.token" type="password"/);
    const done = await submit("/connect/vault", VAULT);
    expect([done.status, done.headers.location]).toEqual([303, "/connections?notice=connected"]);
    expect(await list("vault")).toMatchObject([
      {
        label: "Team vault",
        settings: { address: "https://vault.example", token: "abc" },
        scopes: ["vault.read", "vault.write"],
        state: "healthy",
        isDefault: true,
      },
    ]);
    expect((await execute(service, "vault_look")).status).toBe(200);
    expect((await open("/connections?notice=connected")).text).toContain("Team vault");
  });

  test.each(["constructor", "__proto__", "nothing"])("the address cannot say what was done: %s", async (name) => {
    for (const path of ["/connections", "/devices"]) {
      expect((await open(`${path}?notice=${name}`)).text).not.toContain('class="notice"');
    }
  });

  test("a second connection does not become the default by itself", async () => {
    await submit("/connect/vault", VAULT);
    await submit("/connect/vault", { ...VAULT, label: "Other" });
    expect((await list("vault")).map(({ label, isDefault }) => [label, isDefault])).toEqual([
      ["Team vault", true],
      ["Other", false],
    ]);
  });

  test("asks whether a real account takes the place of the one that the first start made", async () => {
    const page = await open("/connect/drive");
    expect(page.text).toMatch(/<input type="checkbox" id="default" name="default" value="yes" checked>/);
    expect(page.text).toContain("So far that is “Local drive”");
    await submit("/connect/drive", { label: "Work", "set.folder": folder, access: "full", default: "yes" });
    expect((await list("drive")).find(({ isDefault }) => isDefault)?.label).toBe("Work");
    const next = await open("/connect/drive");
    expect(next.text).toMatch(/<input type="checkbox" id="default" name="default" value="yes">/);
    expect(next.text).toContain("So far that is “Work”");
    expect((await open("/connect/vault")).text).not.toContain('id="default"');
  });

  test("offers to put away the folder that the first start made, beside a real account", async () => {
    const offer = (page: Reply) => [...page.text.matchAll(/"([^"]*)" is the folder that the service came with/g)];
    expect(offer(await open("/connections"))).toEqual([]);
    await submit("/connect/drive", { label: "Work", "set.folder": folder, access: "full", default: "yes" });
    const page = await open("/connections");
    expect(offer(page).map(([, label]) => label)).toEqual(["Local drive"]);
    const [, action = ""] = /action="([^"]*\/connections\/\w+\/disconnect)"/.exec(page.text) ?? [];
    await submit(action.replace(/^.*(?=\/connections\/)/, ""), {}, "/connections");
    expect((await list("drive")).map(({ label }) => label)).toEqual(["Work"]);
    expect(offer(await open("/connections"))).toEqual([]);
  });

  test("read only grants what reading needs", async () => {
    await submit("/connect/vault", { ...VAULT, access: "read" });
    expect((await list("vault"))[0]?.scopes).toEqual(["vault.read"]);
    expect((await execute(service, "vault_put")).status).toBe(403);
    expect((await execute(service, "vault_look")).status).toBe(200);
  });

  test.each([
    ["address", { ...VAULT, "set.address": " " }, "This is needed."],
    ["address", { ...VAULT, "set.address": "ftp://vault" }, "must begin with https://"],
    ["token", { ...VAULT, "set.token": "" }, "This is needed."],
    ["token", { ...VAULT, "set.token": "wrong" }, "does not know this token"],
    ["note", { ...VAULT, "set.note": "x".repeat(8001) }, "longer than 8000"],
  ])("shows what is wrong at %s and keeps what was typed", async (name, fields, problem) => {
    const { status, text } = await submit("/connect/vault", fields);
    expect(status).toBe(400);
    expect(text).toMatch(new RegExp(`id="set-${name}-problem">[^<]*${problem}`));
    expect(text).toMatch(new RegExp(`id="set-${name}"[^>]*aria-invalid="true"[^>]*set-${name}-problem`));
    expect(text).toContain(`href="#set-${name}"`);
    expect(text).toContain('value="Team vault"');
    expect(text).not.toContain("wrong&quot;");
    expect(text).toMatch(/name="set.token" type="password" value=""/);
    expect(await list("vault")).toEqual([]);
  });

  describe("after a mistake elsewhere in the form", () => {
    const typed = { ...VAULT, "set.token": "s3cret-of-the-vault" };
    const readKept = ({ text }: Reply) => /name="kept" value="([\w-]{43})"/.exec(text)?.[1] ?? "";
    const tokens = async () => (await list("vault")).map(({ settings }) => settings.token);

    test("a secret need not be typed again, and is in no page and no file", async () => {
      const page = await submit("/connect/vault", { ...typed, "set.address": "ftp://vault" });
      expect(page.text).not.toContain("s3cret");
      expect(page.text).toMatch(/set-token-help">[^<]*Leave it empty to use the one that you typed/);
      expect(page.text).not.toMatch(/id="set-token"[^>]* required/);
      expect(await readStored(service.dataDir)).not.toContain("s3cret");
      const again = await submit("/connect/vault", {
        ...VAULT,
        "set.address": "x",
        "set.token": "",
        kept: readKept(page),
      });
      const done = await submit("/connect/vault", { ...typed, "set.token": "", kept: readKept(again) });
      expect([done.status, await tokens()]).toEqual([303, ["s3cret-of-the-vault"]]);
      const late = await submit("/connect/vault", { ...typed, "set.token": "", kept: readKept(again) });
      expect(late.text).toMatch(/id="set-token-problem">This is needed/);
    });

    test("another one that is typed then counts", async () => {
      const page = await submit("/connect/vault", { ...typed, "set.address": "x" });
      await submit("/connect/vault", { ...VAULT, "set.token": "other", kept: readKept(page) });
      expect(await tokens()).toEqual(["other"]);
    });

    test("it counts in no other form and no other browser", async () => {
      await submit("/connect/vault", VAULT);
      const [{ id } = { id: "" }] = await list("vault");
      const first = await submit("/connect/vault", { ...typed, "set.address": "x" });
      await submit(`/connections/${id}/reconnect`, { ...VAULT, "set.token": "", kept: readKept(first) });
      expect(await tokens()).toEqual(["abc"]);
      const second = await submit("/connect/vault", { ...typed, "set.address": "x" });
      browser = openBrowser();
      await browser.open(await service.service.signInUrl());
      const other = await submit("/connect/vault", { ...typed, "set.token": "", kept: readKept(second) });
      expect([other.status, await tokens()]).toEqual([400, ["abc"]]);
    });
  });

  test("mail says in plain words what is wrong, with the labels of its fields, and keeps what was typed", async () => {
    const pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
    const fields = { "set.address": "ana@example.org", "set.password": "pw-of-ana", "set.imapHost": "127.0.0.1:1" };
    const { text } = await submit("/connect/mail", { ...fields, "set.ca": pem });
    expect(text).toMatch(
      /id="set-imapHost-problem">The IMAP server [^<]*: nothing answers at this address and port\.</,
    );
    expect(text).not.toMatch(/ECONN|Setting &quot;|pw-of-ana/);
    expect(text).toMatch(new RegExp(`<textarea id="set-ca"[^>]*>${pem}</textarea>`));
    expect(text).toContain('value="127.0.0.1:1"');
  });

  test.each([
    ["calendar", "server", "It is needed, or else a folder."],
    ["contacts", "server", "It is needed, or else a folder."],
    ["drive", "folder", "It is needed, or else a WebDAV server or a bucket."],
    ["notes", "folder", "It is needed, or else a token of Notion."],
  ])("%s without any place says at its first field which there are", async (slug, field, problem) => {
    const page = await submit(`/connect/${slug}`, { label: "Mine", access: "full" }, `/connect/${slug}?all`);
    expect(page.status).toBe(400);
    expect(page.text).toContain(`<p class="problem" id="set-${field}-problem">${problem}</p>`);
    expect(page.text).toContain('value="Mine"');
  });

  test.each(["drive", "notes"])("%s takes a folder of this machine", async (slug) => {
    const done = await submit(`/connect/${slug}`, { label: "", "set.folder": ` ${folder} ` });
    expect(done.status).toBe(303);
    expect((await list(slug)).at(-1)).toMatchObject({ settings: { folder }, isDefault: false });
  });

  test("mail takes a mailbox and an address", async () => {
    const fields = { "set.maildir": folder, "set.address": "ana@example.org", "set.name": "Ana" };
    const bad = await submit("/connect/mail", { ...fields, "set.address": "Ana" });
    expect(bad.text).toMatch(/id="set-address-problem">[^<]*me@example.org/);
    await submit("/connect/mail", fields);
    expect((await list("mail")).at(-1)?.settings).toEqual({ maildir: folder, address: "ana@example.org", name: "Ana" });
  });

  test("a folder that cannot or must not be connected is refused at its field", async () => {
    await writeFile(join(folder, "file"), "");
    await mkdir(join(folder, "own"));
    await symlink(service.dataDir, join(folder, "link"));
    const table: [string, RegExp][] = [
      ["notes/here", /whole path/],
      [join(folder, "nothing"), /no such folder/],
      [join(folder, "file"), /not a folder/],
      [service.dataDir, /keeps its own data/],
      [join(service.dataDir, ".."), /keeps its own data/],
      [join(service.dataDir, "blobs"), /keeps its own data|no such folder/],
      [join(folder, "link"), /keeps its own data/],
      ["/", /keeps its own data/],
    ];
    for (const [path, problem] of table) {
      const { status, text } = await submit("/connect/drive", { "set.folder": path });
      expect([path, status]).toEqual([path, 400]);
      expect(/id="set-folder-problem">([^<]*)/.exec(text)?.[1]).toMatch(problem);
    }
    expect(await list("drive")).toHaveLength(1);
  });

  test("an unknown app is a page that says so", async () => {
    const { status, text } = await open("/connect/nothing");
    expect([status, text.includes("There is no such app")]).toEqual([404, true]);
  });
});

describe("one connection", () => {
  let id: string;
  beforeEach(async () => {
    await submit("/connect/vault", VAULT);
    id = (await list("vault"))[0]?.id ?? "";
  });

  test("shows its settings and never its secret", async () => {
    for (const path of [`/connections/${id}`, `/connections/${id}/reconnect`]) {
      const { text } = await open(path);
      expect(text).toContain("https://vault.example");
      expect(text).not.toContain("abc");
    }
    expect((await open(`/connections/${id}`)).text).toContain("Kept, encrypted");
  });

  test("does not speak of a secret that need not be set", async () => {
    const { id: own } = (await list("mail"))[0] ?? {};
    const { text } = await open(`/connections/${own}`);
    expect(text).toContain("Mail address");
    expect(text).not.toMatch(/Password or access token|Missing/);
  });

  test("is renamed, made the default and disconnected", async () => {
    await submit("/connect/vault", { ...VAULT, label: "Other" });
    const other = (await list("vault")).find(({ label }) => label === "Other")?.id ?? "";
    await submit(`/connections/${other}/rename`, { label: " New \u202Ename " }, `/connections/${other}`);
    await submit(`/connections/${other}/default`, {}, `/connections/${other}`);
    expect((await list("vault")).map(({ label, isDefault }) => [label, isDefault])).toEqual([
      ["Team vault", false],
      ["New name", true],
    ]);
    await submit(`/connections/${other}/disconnect`, {}, `/connections/${other}`);
    expect(await list("vault")).toHaveLength(1);
    expect((await open(`/connections/${other}`)).status).toBe(404);
  });

  test("a refused sign-in asks for a reconnect, which makes it healthy again", async () => {
    await service.service.connections.update(id, { settings: { address: "https://vault.example", token: "stale" } });
    expect((await execute(service, "vault_look")).status).toBe(401);
    expect((await list("vault"))[0]?.state).toBe("reauth_required");
    expect((await execute(service, "vault_look")).status).toBe(401);
    expect((await open("/connect/vault")).text).toContain(`/connections/${id}/reconnect`);
    const path = `/connections/${id}/reconnect`;
    const done = await submit(path, { ...VAULT, "set.token": "fresh" });
    expect([done.status, done.headers.location]).toEqual([303, `/connections/${id}?notice=reconnected`]);
    expect(await list("vault")).toMatchObject([{ id, state: "healthy", settings: { token: "fresh" } }]);
    expect((await execute(service, "vault_look")).status).toBe(200);
  });

  test("an empty secret field keeps the stored secret", async () => {
    await submit(`/connections/${id}/reconnect`, { ...VAULT, "set.token": "", "set.note": "n" });
    expect((await list("vault"))[0]?.settings).toEqual({ address: "https://vault.example", token: "abc", note: "n" });
    await submit(`/connections/${id}/reconnect`, { ...VAULT, "set.token": "", "set.note": "" });
    expect((await list("vault"))[0]?.settings).toEqual({ address: "https://vault.example", token: "abc" });
  });

  test("the reconnect page says which permissions are missing and grants them", async () => {
    await service.service.connections.update(id, { scopes: ["vault.read"] });
    const page = await open(`/connections/${id}/reconnect`);
    expect(page.text).toMatch(/<code>vault\.write<\/code>, needed by: Put inside/);
    expect(page.text).toMatch(/value="read" checked/);
    await submit(`/connections/${id}/reconnect`, { ...VAULT, "set.token": "" });
    expect((await list("vault"))[0]?.scopes).toEqual(["vault.read", "vault.write"]);
  });

  test("no form works without the token of its page, or for a stranger", async () => {
    const actions = ["rename", "default", "disconnect", "reconnect"].map((name) => `/connections/${id}/${name}`);
    for (const path of [...actions, "/connect/vault"]) {
      expect((await browser.submit(`${service.url}${path}`, VAULT)).status).toBe(403);
      const stranger = await openBrowser().submit(`${service.url}${path}`, VAULT, { "x-svc-api-key": service.apiKey });
      expect(stranger.status).toBe(403);
    }
    expect(await list("vault")).toMatchObject([{ id, label: "Team vault", isDefault: true }]);
  });
});

test("signing in leads back to the page on which an app is connected", async () => {
  const stranger = openBrowser();
  expect((await stranger.open(`${service.url}/connect/vault`)).status).toBe(401);
  expect((await stranger.open(await service.service.signInUrl())).headers.location).toBe("/connect/vault");
});

test("a connection of an app that is gone can only be disconnected", async () => {
  await service.close();
  const dataDir = join(folder, "data");
  const before = await startTestService({ dataDir, integrations: [vault.integration] });
  const settings = { address: "https://vault.example", token: "abc" };
  const { id } = await before.service.connections.add({ integration: "vault", label: "Left", settings });
  await before.close();
  service = await startTestService({ dataDir, integrations: [] });
  browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  expect((await open("/connections")).text).toContain("no longer installed");
  expect((await open(`/connections/${id}/reconnect`)).status).toBe(409);
  const page = await open(`/connections/${id}`);
  expect(page.text).not.toContain("/reconnect");
  await submit(`/connections/${id}/disconnect`, {}, `/connections/${id}`);
  expect(await service.service.connections.list()).toEqual([]);
});
