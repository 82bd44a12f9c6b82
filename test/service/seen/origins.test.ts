import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { execute } from "../http-calls.ts";
import { MESSAGE_ID, mailTo, OWNER, originOf, post, readMail, STRANGER, startMailWorld } from "./mail-world.ts";

let service: Awaited<ReturnType<typeof startMailWorld>>;

beforeEach(async () => {
  service = await startMailWorld();
});
afterEach(() => service.end());

const send = (to: string, more: object = {}) => execute(service, "mail_send_message", { ...mailTo(to), ...more });

describe("the origins of a call that waits", () => {
  test("name the mail that brought an address", async () => {
    expect(originOf(await send("drop@elsewhere.example"), "drop@elsewhere.example")).toMatchObject({
      origin: "unseen",
    });
    expect((await readMail(service)).status).toBe(200);
    const reply = await send("drop@elsewhere.example");
    expect(reply.status).toBe(412);
    expect(originOf(reply, "drop@elsewhere.example")).toMatchObject({
      origin: "somebody",
      sink: true,
      source: { app: "mail", title: "Quarterly zebra figures" },
    });
    expect(JSON.stringify(originOf(reply, "drop@elsewhere.example").source.by)).toContain("Mallory Quist");
    expect(reply.json.canonical.origins).toEqual(reply.json.error.origins);
  });

  test("know what is the owner's without any read", async () => {
    expect(originOf(await send("berta@friends.example"), "berta@friends.example")).toMatchObject({ origin: "yours" });
    expect(originOf(await send(OWNER), OWNER)).toMatchObject({ origin: "yours" });
  });

  test("stand beside the preview, also where there is none, and in the canonical answer", async () => {
    await readMail(service);
    const preview = await post(service, "/api/tools/mail_send_message/preview", mailTo(STRANGER));
    expect(originOf(preview, STRANGER)).toMatchObject({ origin: "somebody" });
    const input = mailTo(STRANGER).arguments;
    const canonical = await post(service, "/api/executions", {
      integration_id: "mail",
      action_id: "send_message",
      input,
    });
    expect([canonical.status, originOf(canonical, STRANGER)?.origin]).toEqual([409, "somebody"]);
  });

  test("believe the device only for the label", async () => {
    await readMail(service);
    expect(originOf(await send(STRANGER, { said: [STRANGER] }), STRANGER)).toMatchObject({ origin: "you" });
    expect((await send(STRANGER, { said: "x" })).status).toBe(412);
    expect(originOf(await send(STRANGER), STRANGER)).toMatchObject({ origin: "somebody" });
  });

  test("belong to the key that saw the values", async () => {
    await readMail(service);
    const other = { ...service, apiKey: await service.createKey("Other") };
    const reply = await execute(other, "mail_send_message", mailTo("drop@elsewhere.example"));
    expect(originOf(reply, "drop@elsewhere.example")).toMatchObject({ origin: "unseen" });
  });
});

describe("what a write carries", () => {
  test("stays somebody's in the owner's contacts", async () => {
    await readMail(service);
    const contact = { arguments: { name: "Treasury", emails: [{ address: "drop@elsewhere.example" }] } };
    const made = await execute(service, "contacts_create_contact", { ...contact, confirmed: true });
    expect(made.json.ok).toBe(true);
    expect(originOf(await send("drop@elsewhere.example"), "drop@elsewhere.example")).toMatchObject({
      origin: "somebody",
      source: { app: "mail" },
    });
  });

  test("leaves the owner's own what it was", async () => {
    const contact = { arguments: { name: "New", emails: [{ address: "new@friends.example" }] } };
    await execute(service, "contacts_create_contact", { ...contact, said: ["new@friends.example"], confirmed: true });
    expect(originOf(await send("new@friends.example"), "new@friends.example")).toMatchObject({ origin: "yours" });
  });
});

test("a call that the owner holds shows them, too", async () => {
  const apiKey = await service.createKey("Held", { approvals: "owner" });
  const held = { ...service, apiKey };
  await execute(held, "mail_read_message", { arguments: { message_id: MESSAGE_ID } });
  const reply = await execute(held, "mail_send_message", mailTo(STRANGER));
  expect(originOf(reply, STRANGER)).toMatchObject({ origin: "somebody" });
  const listed = await fetch(`${service.url}/api/approvals`, { headers: { "x-svc-api-key": apiKey } });
  const { approvals } = (await listed.json()) as { approvals: { origins: { value: string; origin: string }[] }[] };
  expect(approvals[0]?.origins.find(({ value }) => value === STRANGER)?.origin).toBe("somebody");
});
