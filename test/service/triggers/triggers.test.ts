import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createBuiltInIntegrations } from "../../../src/apps/built-in.ts";
import type { AppEvent, Integration, Wanted } from "../../../src/apps/port/integration.ts";
import { createLab } from "../lab-integration.ts";
import { openTriggerLab, START, SUMMARY, type TriggerLab } from "./trigger-lab.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let lab: TriggerLab;
beforeEach(async () => {
  lab = await openTriggerLab();
});
afterEach(() => lab.close());

const hourly = { kind: "schedule", cron: "0 * * * *", zone: "UTC" } as const;
const anyMail = { kind: "mail", query: "is:any" } as const;
const anyFile = { kind: "file", folder: "", pattern: "" } as const;

describe("a schedule", () => {
  test("starts a flow at its time, once, whoever looks how often", async () => {
    const id = await lab.make(hourly);
    await lab.pass(59 * MINUTE);
    expect(await lab.listStarted()).toEqual([]);
    await lab.pass(MINUTE);
    await lab.pass(0);
    await lab.pass(1000);
    expect(await lab.listStarted()).toHaveLength(1);
    const flow = await lab.service.store.selectFrom("flows").selectAll().executeTakeFirstOrThrow();
    expect(flow).toMatchObject({ api_key_id: id, trigger_type: "schedule" });
    const { row } = await lab.service.triggers.read(id);
    expect(row).toMatchObject({ due_at: "2026-03-02T11:00:00.000Z", leased_by: null, note: null });
  });

  test("makes up for missed runs once, and says so", async () => {
    const id = await lab.make(hourly);
    await lab.pass(5 * HOUR + 10 * MINUTE);
    expect(await lab.listValues(id, "at")).toEqual(["2026-03-02T10:00:00.000Z"]);
    const { row } = await lab.service.triggers.read(id);
    expect(row.note).toBe(
      "The run of 2026-03-02 10:00 UTC was missed and made up for once. 4 more that were missed with it are left out.",
    );
    expect(row.due_at).toBe("2026-03-02T15:00:00.000Z");
    await lab.pass(50 * MINUTE);
    expect((await lab.service.triggers.read(id)).row.note).toBeNull();
  });

  test("does not run twice for a clock that is set back", async () => {
    await lab.make(hourly);
    await lab.pass(HOUR);
    await lab.pass(-HOUR / 2);
    await lab.pass(HOUR / 2);
    expect(await lab.listStarted()).toHaveLength(1);
  });

  test("rests while it is paused, and goes on with the next time", async () => {
    const id = await lab.make(hourly);
    await lab.service.triggers.pause(id);
    await lab.pass(3 * HOUR);
    await lab.service.triggers.resume(id);
    await lab.pass(0);
    expect(await lab.listStarted()).toEqual([]);
    await lab.pass(HOUR);
    expect(await lab.listValues(id, "at")).toEqual(["2026-03-02T13:00:00.000Z"]);
  });
});

describe("new mail", () => {
  test("counts from the moment on at which the trigger is made, each message once", async () => {
    await lab.receiveMail({ subject: "Before", id: "a@x" });
    const id = await lab.make(anyMail);
    await lab.pass(MINUTE);
    await lab.receiveMail({ subject: "After", id: "b@x" });
    await lab.receiveMail({ subject: "After too" });
    await lab.pass(MINUTE);
    await lab.pass(MINUTE);
    expect(await lab.listValues(id, "subject")).toEqual(["After", "After too"]);
    expect(await lab.listStarted()).toHaveLength(2);
  });

  test("is what the query finds", async () => {
    const id = await lab.make({ kind: "mail", query: "subject:invoice" });
    await lab.receiveMail({ subject: "Your invoice" });
    await lab.receiveMail({ subject: "Hello" });
    await lab.pass(MINUTE);
    expect(await lab.listValues(id, "subject")).toEqual(["Your invoice"]);
  });

  test("more than one page is found at once", async () => {
    const id = await lab.make(anyMail);
    for (let index = 0; index < 60; index += 1) await lab.receiveMail({ subject: `${index}`, id: `${index}@x` });
    await lab.pass(MINUTE);
    expect(await lab.listValues(id, "subject")).toHaveLength(60);
  });

  test("is not new again when every message gets another id", async () => {
    const id = await lab.make(anyMail);
    await lab.receiveMail({ subject: "One", id: "a@x" });
    await lab.pass(MINUTE);
    const box = join(lab.dataDir, "mail", "new");
    await rm(box, { recursive: true });
    await lab.receiveMail({ subject: "One", id: "a@x", date: new Date(START).toUTCString() });
    await lab.pass(MINUTE);
    expect(await lab.listValues(id, "subject")).toEqual(["One"]);
  });

  test("two messages that differ in nothing but their arrival are two", async () => {
    const id = await lab.make(anyMail);
    await lab.receiveMail({ subject: "Alarm", date: "x" });
    await lab.receiveMail({ subject: "Alarm", date: "x", at: lab.time + 1000 });
    await lab.pass(MINUTE);
    expect(await lab.listValues(id, "subject")).toEqual(["Alarm", "Alarm"]);
  });

  test("that came while the service was down is found by the next start", async () => {
    const id = await lab.make(anyMail);
    lab.time += 3 * DAY;
    await lab.receiveMail({ subject: "Meanwhile", id: "a@x", at: lab.time - 2 * DAY });
    await lab.restart();
    await lab.pass(0);
    expect(await lab.listValues(id, "subject")).toEqual(["Meanwhile"]);
  });

  test("that came while the trigger was paused does not count", async () => {
    const id = await lab.make(anyMail);
    await lab.service.triggers.pause(id);
    await lab.pass(HOUR);
    await lab.receiveMail({ subject: "Paused", id: "a@x" });
    await lab.pass(HOUR);
    await lab.service.triggers.resume(id);
    await lab.receiveMail({ subject: "Resumed", id: "b@x" });
    await lab.pass(MINUTE);
    expect(await lab.listValues(id, "subject")).toEqual(["Resumed"]);
  });

  test("gives its values to the fields that take them, as plain text", async () => {
    await lab.make(anyMail, {
      does: "flow",
      template: "notes_reminder",
      input: { delaySeconds: 60, notionParent: "Mail" },
      take: { text: "subject" },
    });
    await lab.receiveMail({ subject: "Pay \u202ethe rent", id: "a@x" });
    await lab.pass(MINUTE);
    expect(await lab.listStarted()).toEqual([
      expect.objectContaining({ text: "Pay the rent", delaySeconds: 60, notionParent: "Mail" }),
    ]);
    const flows = lab.service.store.selectFrom("flows").select("status");
    await expect.poll(() => flows.execute()).toEqual([{ status: "waiting" }]);
  });
});

describe("an app that numbers everything anew", () => {
  test("brings no old event again, whatever time it gives it now, and still the new ones", async () => {
    await lab.close();
    const inbox: AppEvent[] = [];
    lab = await openTriggerLab({ integrations: [createPostbox(inbox), ...createBuiltInIntegrations()] });
    const connections = lab.service.connections;
    const [own] = await connections.list("mail");
    await connections.update(own?.id ?? "", { isDefault: false });
    const { id: account } = await connections.add({ integration: "postbox", label: "Box", settings: {} });
    const arrive = (id: string, epoch: string, madeAt: number) =>
      inbox.push({ id, place: `${epoch} ${id}`, epoch, madeAt, at: lab.time, values: { subject: id } });
    arrive("before", "one", START - DAY);
    const id = await lab.make({ ...anyMail, account });
    arrive("first", "one", lab.time);
    await lab.pass(MINUTE);
    // By then what it knew of them is forgotten.
    for (let day = 0; day < 3; day += 1) await lab.pass(DAY);
    inbox.length = 0;
    for (const [name, madeAt] of [
      ["before", START - DAY],
      ["first", START],
      ["second", lab.time],
    ] as const) {
      arrive(name, "two", madeAt);
    }
    await lab.pass(MINUTE);
    await lab.pass(MINUTE);
    expect(await lab.listValues(id, "subject")).toEqual(["first", "second"]);
  });
});

/** An app whose new things are those in a list. */
function createPostbox(inbox: readonly AppEvent[]): Integration {
  const look = async ({ isKnown, since }: Wanted) => {
    return { events: inbox.filter(({ place, at }) => at >= since && !isKnown(place)), more: false };
  };
  const { integration } = createLab();
  const actions = integration.actions.map((action) => ({ ...action, scopes: [] }));
  const { id: like = "" } = actions[0] ?? {};
  return { ...integration, slug: "postbox", scopes: [], actions, watch: { kind: "mail", like, look } };
}

describe("a new file", () => {
  test("is one at a path where there was none", async () => {
    await lab.saveFile("old.pdf");
    const id = await lab.make(anyFile);
    await lab.pass(MINUTE);
    await lab.saveFile("Inbox/new.pdf");
    await lab.saveFile("old.pdf", "changed");
    await lab.saveFile(".hidden.pdf");
    await lab.pass(MINUTE);
    await lab.pass(MINUTE);
    expect(await lab.listValues(id, "path")).toEqual(["Inbox/new.pdf"]);
  });

  test("fits folder and pattern", async () => {
    await lab.saveFile("Scans/old.pdf");
    const id = await lab.make({ kind: "file", folder: "Scans", pattern: "*/in*.PDF" });
    for (const path of ["Scans/2026/invoice.pdf", "Scans/invoice.pdf", "Scans/2026/other.pdf", "2026/invoice.pdf"]) {
      await lab.saveFile(path);
    }
    await lab.pass(MINUTE);
    expect(await lab.listValues(id, "path")).toEqual(["Scans/2026/invoice.pdf"]);
  });

  test("that is still written waits for the next look", async () => {
    const id = await lab.make(anyFile);
    lab.time += MINUTE;
    await lab.saveFile("slow.bin");
    await lab.pass(-MINUTE + 1000);
    expect(await lab.listValues(id, "path")).toEqual([]);
    await lab.pass(2 * MINUTE);
    expect(await lab.listValues(id, "path")).toEqual(["slow.bin"]);
  });

  test("at a path that was free for a while is new again", async () => {
    const id = await lab.make(anyFile);
    const [here, away] = [join(lab.dataDir, "drive", "a.txt"), join(lab.dataDir, "a.txt")];
    await lab.saveFile("a.txt");
    await lab.pass(MINUTE);
    await rename(here, away);
    await lab.pass(MINUTE);
    await lab.saveFile("a.txt", "another");
    await lab.pass(MINUTE);
    expect(await lab.listValues(id, "path")).toEqual(["a.txt", "a.txt"]);
  });
});

describe("failures", () => {
  test("a query that cannot be read makes no trigger", async () => {
    await expect(lab.make({ kind: "mail", query: "larger:5M" })).rejects.toThrow(/not supported/);
    await expect(lab.make({ kind: "mail", query: "is:any", account: "con_none" })).rejects.toThrow(/not connected/);
    expect(await lab.service.triggers.list()).toEqual([]);
  });

  test("a flow that could not be started makes no trigger", async () => {
    await expect(lab.make(hourly, { ...SUMMARY, template: "none" })).rejects.toThrow(/no flow template/);
    await expect(lab.make(hourly, { ...SUMMARY, input: { maxResults: 900 } })).rejects.toThrow(/maxResults/);
    await expect(lab.make(hourly, { ...SUMMARY, take: { nothing: "at" } })).rejects.toThrow(/nothing/);
    expect(await lab.service.triggers.list()).toEqual([]);
  });

  test("an app that fails is asked less and less, and the others go on", async () => {
    const mail = await lab.make(anyMail);
    const file = await lab.make(anyFile);
    const [connection] = await lab.service.connections.list("mail");
    await lab.service.connections.update(connection?.id ?? "", { state: "reauth_required" });
    await lab.saveFile("a.txt");
    await lab.pass(MINUTE);
    expect(await lab.listValues(file, "path")).toEqual(["a.txt"]);
    const read = async () => (await lab.service.triggers.read(mail)).row;
    expect(await read()).toMatchObject({ failures: 1, error: expect.stringContaining("signed in to again") });
    await lab.pass(MINUTE);
    await lab.pass(2 * MINUTE);
    expect(await read()).toMatchObject({ failures: 3, due_at: new Date(lab.time + 4 * MINUTE).toISOString() });
    await lab.service.connections.update(connection?.id ?? "", { state: "healthy" });
    await lab.receiveMail({ subject: "Found", id: "a@x" });
    await lab.pass(4 * MINUTE);
    expect(await read()).toMatchObject({ failures: 0, error: null });
    expect(await lab.listValues(mail, "subject")).toEqual(["Found"]);
  });

  test("a rule against reading stops a look too", async () => {
    const id = await lab.make(anyMail);
    const content = JSON.stringify({ effect: "block", tool: "mail_search" });
    const [account_id, made_at] = [lab.service.accountId, new Date(START).toISOString()];
    await lab.service.store
      .insertInto("rules")
      .values({ id: "rule_1", account_id, content, made_by: "x", made_at })
      .execute();
    await lab.pass(MINUTE);
    expect((await lab.service.triggers.read(id)).row.error).toContain("block mail_search");
  });

  test("an event of a template that is gone is given up, and said", async () => {
    const id = await lab.make(hourly);
    const { row } = await lab.service.triggers.read(id);
    const content = row.content.replace("mail_unread_summary", "gone");
    await lab.service.store.updateTable("triggers").set({ content }).where("id", "=", id).execute();
    await lab.pass(HOUR);
    const [event] = await lab.service.triggers.listEvents(id);
    expect(event?.row).toMatchObject({ status: "failed", error: expect.stringContaining('"gone"') });
  });

  test("one that cannot be read any more does not stop the others", async () => {
    const broken = await lab.make(hourly);
    await lab.service.store.updateTable("triggers").set({ content: "{}" }).where("id", "=", broken).execute();
    await lab.make(hourly);
    await lab.pass(HOUR);
    expect(await lab.listStarted()).toHaveLength(1);
    expect(lab.log).toContain(`The trigger ${broken} cannot be read.`);
  });
});

test("the button acts once for each press", async () => {
  const id = await lab.make({ kind: "webhook" });
  await lab.service.triggers.runNow(id, "one");
  await lab.service.triggers.runNow(id, "one");
  await lab.service.triggers.runNow(id, "two");
  await lab.pass(0);
  expect(await lab.listStarted()).toHaveLength(2);
});

test("nothing of a deleted trigger is left, and its flows go on", async () => {
  const id = await lab.make(anyMail);
  await lab.receiveMail({ subject: "One", id: "a@x" });
  await lab.pass(MINUTE);
  await lab.service.triggers.remove(id);
  await lab.pass(MINUTE);
  for (const table of ["triggers", "trigger_marks", "trigger_events"] as const) {
    expect(await lab.service.store.selectFrom(table).selectAll().execute()).toEqual([]);
  }
  expect(await lab.listStarted()).toHaveLength(1);
});

test("events are forgotten with the flows, long after they were acted on", async () => {
  const id = await lab.make(hourly);
  await lab.pass(HOUR);
  const { forgetEnded } = await import("../../../src/service/store/retention.ts");
  const forget = (days: number) =>
    forgetEnded({ store: lab.service.store, time: lab.time, days, isStopping: () => false });
  lab.time += 10 * DAY;
  await forget(30);
  expect(await lab.service.triggers.listEvents(id)).toHaveLength(1);
  await forget(5);
  expect(await lab.service.triggers.listEvents(id)).toEqual([]);
});
