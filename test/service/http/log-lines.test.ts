import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLogPrinter, type LogFormat } from "../../../src/cli/log-lines.ts";
import type { ServiceLog } from "../../../src/service/service-error.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { call, execute, post } from "../http-calls.ts";
import { type Browser, invite, openBrowser, readCsrf } from "./pages/browser.ts";

type Entry = Parameters<ServiceLog>[0];

let service: TestService;
let entries: Entry[];
const start = async (accessLog: boolean) => {
  entries = [];
  service = await startTestService({ accessLog, log: (entry) => entries.push(entry) });
};
afterEach(() => service.close());

const at = (path: string) => `${service.url}${path}`;
const eventsOf = () => entries.map(({ facts }) => facts?.event);

describe("a line about every request", () => {
  beforeEach(() => start(true));
  const linesOf = () => entries.map(({ message }) => message.replace(/ \d+ ms 127\.0\.0\.1/, " N ms"));

  test("has method, path, status and key, and nothing that opens anything", async () => {
    const key = /key_\w{8}/;
    await call(at("/api/tools?query=private"), { headers: { "x-svc-api-key": service.apiKey } });
    await execute(service, "drive_list_files");
    await call(at("/api/tools"));
    const { json } = await post(at("/api/plugin/pair/start"), { deviceLabel: "Laptop" });
    const token = String(json.sessionToken);
    await call(at(`/api/plugin/pair/sessions/${token}`));
    await call(at(`/pair/${token}`));
    await call(at(`/pair/${token}/typo`));
    await call(at(`/${token}`));
    await call(at("/robots.txt"));
    const owner = openBrowser();
    await owner.open(await service.service.signInUrl());
    await owner.open(at("/devices"));
    expect(linesOf().map((line) => line.replace(key, "KEY"))).toEqual([
      "GET /api/tools 200 N ms KEY",
      "POST /api/tools/drive_list_files/execute 200 N ms KEY",
      "GET /api/tools 401 N ms",
      "POST /api/plugin/pair/start 200 N ms",
      "GET /api/plugin/pair/sessions/:token 200 N ms",
      "GET /pair/:token 401 N ms",
      "GET /pair… 404 N ms",
      `GET /${token.slice(0, 20)}… 404 N ms`,
      "GET /robots.txt 404 N ms",
      "GET /sign-in 200 N ms",
      expect.stringContaining("signed in by a link"),
      "POST /sign-in 303 N ms",
      "GET /devices 401 N ms",
      "GET /devices 200 N ms",
    ]);
    expect(JSON.stringify(entries)).not.toMatch(new RegExp(`${token}|${service.apiKey}|private|/s/`));
    const [first] = entries;
    expect(first).toMatchObject({
      level: "info",
      facts: { event: "request", method: "GET", path: "/api/tools", status: 200, key: expect.stringMatching(key) },
    });
  });

  test("names the status of an answer that the OAuth library writes", async () => {
    await call(at("/oauth/token"), { method: "POST" });
    expect(linesOf()).toEqual(["POST /oauth/token 400 N ms"]);
  });
});

describe("a line about every change that a person makes", () => {
  let owner: Browser;
  beforeEach(async () => {
    await start(false);
    owner = openBrowser();
    await owner.open(await service.service.signInUrl());
    entries.length = 0;
  });
  const submit = async (path: string, fields: Record<string, string> = {}) =>
    owner.submit(at(path), { csrf: readCsrf(await owner.open(at("/sessions"))), ...fields });

  test("tells who let in, limited and revoked which device", async () => {
    const { json } = await post(at("/api/plugin/pair/start"), { deviceLabel: 'Lap"top\n2026 error: x' });
    await submit(`/pair/${json.sessionToken}`, { decision: "approve" });
    await submit(`/pair/${json.sessionToken}`, { decision: "approve" });
    const other = await post(at("/api/plugin/pair/start"), { deviceLabel: "Stranger" });
    await submit(`/pair/${other.json.sessionToken}`, { decision: "decline" });
    const page = await owner.open(at("/devices"));
    const id = /\/devices\/(key_\w+)\/revoke/.exec(page.text)?.[1] ?? "";
    await submit(`/devices/${id}/limits`, { "level.read": "yes" });
    await submit(`/devices/${id}/revoke`);
    expect(eventsOf()).toEqual(["device.approved", "device.declined", "device.limited", "device.revoked"]);
    expect(entries[0]?.message).toMatch(/^"Owner" \(per_\w+\) approved the device "Lap\\"top 2026 error: x"$/);
    expect(entries[3]?.facts).toEqual({
      event: "device.revoked",
      by: "Owner",
      by_id: expect.stringMatching(/^per_/),
      name: "Test device",
      id,
    });
  });

  test("tells who came, went, and became what", async () => {
    const guest = openBrowser();
    await guest.open(await invite(owner, service.url, "Ada"));
    const id = /\/people\/(per_\w+)">Ada/.exec((await owner.open(at("/people"))).text)?.[1] ?? "";
    await submit(`/people/${id}`, { name: "Ada", role: "owner" });
    await submit(`/people/${id}/link`);
    const session = /\/sessions\/(ses_\w+)\/end/.exec((await owner.open(at(`/people/${id}`))).text)?.[1] ?? "";
    await submit(`/sessions/${session}/end`);
    await submit(`/people/${id}/remove`);
    await submit("/sign-out");
    expect(eventsOf()).toEqual([
      "person.invited",
      "person.signed_in",
      "person.changed",
      "person.link_made",
      "browser.signed_out",
      "person.removed",
      "person.signed_out",
    ]);
    expect(entries.map(({ message }) => message.replaceAll(/ \(per_\w+\)/g, ""))).toEqual([
      '"Owner" invited, as approver, "Ada"',
      '"Ada" signed in by a link from 127.0.0.1',
      '"Owner" set name and role (owner) of "Ada"',
      '"Owner" made a sign-in link for "Ada"',
      '"Owner" signed out a browser of',
      '"Owner" removed "Ada"',
      '"Owner" signed out',
    ]);
  });

  test("tells of connections and rules, and not of what was refused", async () => {
    await submit("/connect/notes", { label: "Mine", "set.vault": `${service.dataDir}/nowhere` });
    await submit("/rules", { effect: "block", tool: "mail/*" });
    await submit("/rules", { effect: "allow", tool: "mail/*", level: "delete" });
    const rule = /\/rules\/(rule_\w+)\/remove/.exec((await owner.open(at("/rules"))).text)?.[1] ?? "";
    await submit(`/rules/${rule}/remove`);
    await submit(`/rules/${rule}/remove`);
    const [connection] = await service.service.connections.list("notes");
    await submit(`/connections/${connection?.id}/disconnect`);
    expect(eventsOf()).toEqual(["rule.added", "rule.removed", "connection.removed"]);
    expect(entries[0]?.message).toMatch(/ added the rule "block mail\/\*" \(rule_\w+\)$/);
    expect(entries[2]?.message).toMatch(/ removed the connection of notes "Local notes" \(con_\w+\)$/);
  });
});

describe("the lines of svc serve", () => {
  beforeEach(() => start(false));
  const print = (format: LogFormat, entry: Entry) => {
    const lines: string[] = [];
    createLogPrinter(
      format,
      (line) => lines.push(line),
      () => Date.parse("2026-03-04T10:00:00Z"),
    )(entry);
    return lines;
  };

  test("are one line each, whatever they hold", () => {
    const cause = new Error("outer", { cause: new Error("inner\nstack") });
    const entry = { level: "warn", message: "A note\nfailed \u001b[2J", cause } as const;
    expect(print("text", entry)).toEqual(["2026-03-04T10:00:00.000Z warn: A note\\nfailed \\u001b[2J (inner)"]);
    const [line = "", ...more] = print("json", { ...entry, facts: { event: "x", status: 200 } });
    expect(more).toEqual([]);
    expect(line).not.toContain("\n");
    expect(JSON.parse(line)).toEqual({
      time: "2026-03-04T10:00:00.000Z",
      level: "warn",
      event: "x",
      status: 200,
      message: entry.message,
      reason: "inner",
    });
  });
});
