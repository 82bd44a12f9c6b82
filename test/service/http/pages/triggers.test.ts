import { afterEach, beforeEach, expect, test } from "vitest";
import { call } from "../../http-calls.ts";
import { openTriggerLab, type TriggerLab } from "../../triggers/trigger-lab.ts";
import { type Browser, openBrowser, readCsrf } from "./browser.ts";

let lab: TriggerLab;
let browser: Browser;
beforeEach(async () => {
  lab = await openTriggerLab();
  browser = openBrowser();
  await browser.open(await lab.service.signInUrl());
});
afterEach(() => lab.close());

const open = (path: string) => browser.open(`${lab.service.url}${path}`);
const submit = async (path: string, fields: Record<string, string>) =>
  browser.submit(`${lab.service.url}${path}`, {
    csrf: readCsrf(await open("/triggers/new?kind=mail&does=post")),
    ...fields,
  });

const DAILY = {
  kind: "schedule",
  does: "flow/mail_unread_summary",
  name: "Every <b>morning</b>",
  cron: "0 8 * * *",
  zone: "Europe/Berlin",
  "in.maxResults": "3",
};

test("a schedule is made, shown, run, paused, resumed and deleted", async () => {
  expect((await open("/triggers")).text).toContain("There is no trigger, and nothing is looked for.");
  expect((await open("/triggers/new")).text).toContain("Wake an OpenClaw agent");
  const made = await submit("/triggers/new", DAILY);
  expect(made.headers.location).toMatch(/^\/triggers\/trg_\w+\?notice=made$/);
  const path = String(made.headers.location).replace(/\?.*/, "");
  const { text } = await open(`${path}?notice=made`);
  expect(text).toContain("Every &lt;b&gt;morning&lt;/b&gt;");
  expect(text).toContain("<code>0 8 * * *</code> in <code>Europe/Berlin</code>");
  expect(text).toContain("2026-03-03 07:00:00 UTC");
  expect(text).toContain("There was none since it was made.");

  const press = /name="press" value="([^"]+)"/.exec(text)?.[1] ?? "";
  await submit(`${path}/run`, { press });
  await submit(`${path}/run`, { press });
  await lab.pass(0);
  expect(await lab.listStarted()).toEqual([{ maxResults: 3 }]);
  const flow = /<a href="(\/flows\/flw_\w+)">its flow<\/a>/.exec((await open(path)).text)?.[1];
  expect((await open(flow ?? "")).text).toContain("started on schedule by Every &lt;b&gt;morning&lt;/b&gt;");

  await submit(`${path}/pause`, {});
  expect((await open("/triggers")).text).toContain("Paused");
  await submit(`${path}/resume`, {});
  expect((await open("/triggers")).text).toMatch(/last event <time[^>]*>just now<\/time> · next <time/);
  expect((await submit(`${path}/delete`, {})).headers.location).toBe("/triggers?notice=deleted");
  expect((await open(path)).status).toBe(404);
  expect((await submit(`${path}/run`, {})).status).toBe(404);
});

test.each([
  [{ kind: "mail", query: "is:any" }, "on new mail"],
  [{ kind: "file", folder: "", pattern: "" }, "on a new file"],
] as const)("a flow says which event started it: %o", async (on, words) => {
  await lab.make(on);
  await lab.receiveMail({ subject: "Hello" });
  await lab.saveFile("a.txt");
  await lab.pass(60_000);
  expect((await open("/flows")).text).toContain(`started ${words} by Lab`);
  const { accountId, keys, url } = lab.service;
  const { apiKey: key } = await keys.issue({ accountId, label: "Phone", client: null });
  const { flows } = (await call(`${url}/api/flows`, { key })).json;
  expect(flows).toMatchObject([{ triggerType: "schedule", startedOn: on.kind, startedBy: "Lab" }]);
});

test("secrets of webhooks are shown once", async () => {
  const made = await submit("/triggers/new", {
    kind: "webhook",
    does: "post",
    name: "In and out",
    url: "https://example.org/in",
  });
  const secrets = [...made.text.matchAll(/whsec_[\w+/=]+/g)].map(([secret]) => secret);
  expect(new Set(secrets).size).toBe(2);
  const [id = ""] = /trg_\w+/.exec(made.text) ?? [];
  expect(made.text).toContain(`${lab.service.url}/api/hooks/${id}`);
  const { text } = await open(`/triggers/${id}`);
  expect(text).toContain(`/api/hooks/${id}`);
  expect(text).not.toContain("whsec_");
});

test("failures, missed runs and given-up events are said", async () => {
  await submit("/triggers/new", {
    kind: "mail",
    does: "wake",
    name: "Wake",
    query: "is:any",
    url: "http://127.0.0.1:1/hooks/wake",
    token: "secret-token",
    text: "Look.",
  });
  await submit("/triggers/new", DAILY);
  const made = await lab.service.triggers.list();
  const [wake, daily] = ["mail", "schedule"].map((kind) => made.find(({ on }) => on.kind === kind));
  await lab.receiveMail({ subject: "Hello <i>", id: "a@x" });
  await lab.pass(60_000);
  const { text } = await open(`/triggers/${wake?.row.id}`);
  expect(text).toContain("1 of its attempts failed, the next one");
  expect(text).toContain("It cannot be reached");
  expect(text).toContain("Hello &lt;i&gt;");
  expect(text).not.toContain("secret-token");
  expect((await open("/triggers")).text).toContain("Failing");
  const [connection] = await lab.service.connections.list("mail");
  await lab.service.connections.update(connection?.id ?? "", { state: "reauth_required" });
  await lab.pass(3 * 24 * 60 * 60_000);
  expect((await open(`/triggers/${wake?.row.id}`)).text).toContain("It could not look the last time:");
  expect((await open(`/triggers/${daily?.row.id}`)).text).toContain("was missed and made up for once");
});

const MISTAKES = [
  [{ ...DAILY, cron: "every day" }, "cron", "needs five fields"],
  [{ ...DAILY, zone: "Berlin" }, "zone", "must be a time zone such as"],
  [{ ...DAILY, name: " " }, "name", "is needed"],
  [{ ...DAILY, "in.maxResults": "99" }, "in-maxResults", "must be a whole number from"],
  [
    { kind: "mail", does: "post", name: "x", query: "larger:5M", url: "https://example.org" },
    "query",
    "has a term that is not supported",
  ],
  [{ kind: "file", does: "post", name: "x", folder: "../up", url: "https://example.org" }, "folder", ""],
  [{ kind: "webhook", does: "post", name: "x", url: "ftp://example.org" }, "url", "must be an address such as"],
  [
    { kind: "webhook", does: "wake", name: "x", url: "http://h/hooks/other", text: "x", token: "x" },
    "url",
    "must end with",
  ],
  [{ kind: "webhook", does: "wake", name: "x", url: "http://h/hooks/wake", text: "x" }, "token", "is needed"],
] as const;

test("a mistake is told at its field, and what was typed stays", async () => {
  for (const [fields, field, text] of MISTAKES) {
    const refused = await submit("/triggers/new", fields);
    expect(refused.status).toBe(400);
    expect(refused.text).toMatch(new RegExp(`<a href="#${field}">[^<]+</a>: [^<]*${text}`));
    expect(refused.text).toContain(`id="${field}-problem"`);
    const typed = fields.name.trim() === "" ? DAILY.cron : fields.name;
    expect(refused.text).toContain(`value="${typed.replaceAll("<", "&lt;").replaceAll(">", "&gt;")}"`);
  }
  expect(await lab.service.triggers.list()).toEqual([]);
});

test("several mistakes are told at once, and a token that was typed is not typed again", async () => {
  const fields = {
    kind: "webhook",
    does: "wake",
    name: " ",
    url: "http://h/hooks/wake",
    text: "One\r\nTwo",
    token: "hooks-token-1",
  };
  const refused = await submit("/triggers/new", { ...fields, url: "ftp://h", text: "" });
  for (const field of ["name", "url", "text"]) expect(refused.text).toContain(`id="${field}-problem"`);
  expect(refused.text).not.toContain('id="token-problem"');
  expect(refused.text).not.toContain("hooks-token-1");
  const kept = /name="kept" value="([^"]+)"/.exec(refused.text)?.[1] ?? "";
  await submit("/triggers/new", { ...fields, name: "Wake", token: "", kept });
  const [made] = await lab.service.triggers.list();
  expect(made?.act).toMatchObject({ does: "wake", text: "One\nTwo" });
});

test("a trigger whose app cannot be asked stays paused when it is to go on, and says why", async () => {
  await submit("/triggers/new", { kind: "mail", does: "post", name: "x", query: "is:any", url: "https://example.org" });
  const [made] = await lab.service.triggers.list();
  const path = `/triggers/${made?.row.id}`;
  await submit(`${path}/pause`, {});
  const [mail] = await lab.service.connections.list("mail");
  await lab.service.connections.update(mail?.id ?? "", { state: "reauth_required" });
  const refused = await submit(`${path}/resume`, {});
  expect(refused.headers.location).toBe(`${path}?notice=still-paused`);
  const { text } = await open(`${path}?notice=still-paused`);
  expect(text).toContain("It stays paused");
  expect(text).toMatch(/It could not look the last time: [^<]*must be signed in to again/);
  expect(text).not.toContain("It tries again");
  expect(text).toContain(">Resume</button>");
  await lab.service.connections.update(mail?.id ?? "", { state: "healthy" });
  expect((await submit(`${path}/resume`, {})).headers.location).toBe(`${path}?notice=resumed`);
  expect((await open(path)).text).not.toContain("It could not look");
});

test("values of an event go into the fields that the form names", async () => {
  const fields = {
    kind: "mail",
    does: "flow/notes_reminder",
    name: "Reminders",
    query: "is:any",
    "in.delaySeconds": "60",
    "field-1": "text",
    "value-1": "subject",
  };
  expect((await submit("/triggers/new", { ...fields, "field-2": "txt", "value-2": "from" })).text).toContain(
    "is not an input of this template",
  );
  expect((await submit("/triggers/new", fields)).status).toBe(303);
  const [trigger] = await lab.service.triggers.list();
  expect(trigger?.act).toMatchObject({ take: { text: "subject" } });
});
