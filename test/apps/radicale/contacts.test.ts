import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createContactsIntegration } from "../../../src/apps/contacts/contacts-integration.ts";
import { createRunner, refusal } from "../run-action.ts";
import { startRadicale, type TestRadicale } from "./kit/start-radicale.ts";

let radicale: TestRadicale;
let run: ReturnType<typeof createRunner>;
const integration = createContactsIntegration();

beforeAll(async () => {
  radicale = await startRadicale();
  const { url: server, user, password } = radicale;
  run = createRunner(integration, { settings: { server, user, password } });
});
beforeEach(() => radicale.disturb(() => undefined));
afterAll(async () => {
  await integration.close?.();
  await radicale?.close();
});

const put = (name: string, ...lines: string[]) =>
  radicale.ask(
    "PUT",
    `/ana/people/${name}.vcf`,
    ["BEGIN:VCARD", "VERSION:3.0", `UID:${name}`, ...lines, "END:VCARD", ""].join("\r\n"),
    { "content-type": "text/vcard" },
  );
const names = async (args: Record<string, unknown>) =>
  (await run("search", args)).contacts.map(({ name }: { name: string }) => name);

it("finds contacts on a server, by every word, whatever its case", async () => {
  await put("zoe", "FN:Zoë Müller", "N:Müller;Zoë;;;", "TEL:+49 (30) 12-34", "NOTE:climbs", "ORG:Example;Sales");
  await put("ben", "FN:Ben", "N:;Ben;;;", "EMAIL:ben@example.org", "ADR:;;Main Street 1;Berlin;;;");
  expect(await names({})).toEqual(["Ben", "Zoë Müller"]);
  expect(await names({ query: "zoë CLIMBS" })).toEqual(["Zoë Müller"]);
  expect(await names({ query: "sales" })).toEqual(["Zoë Müller"]);
  expect(await names({ query: "+493012" })).toEqual(["Zoë Müller"]);
  expect(await names({ query: "berlin" })).toEqual(["Ben"]);
  expect(await names({ query: "example.org", address_book: "My people" })).toEqual(["Ben"]);
  expect(await names({ query: "nobody" })).toEqual([]);
});

it("creates, changes and deletes, and keeps photo and unknown lines", async () => {
  const made = await run("create_contact", { name: "Ana", emails: [{ address: "ana@example.org", type: "home" }] });
  expect(made).toMatchObject({ address_book: "My people", emails: [{ address: "ana@example.org", type: "home" }] });
  const photo = "PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSkZJRgABAQ==";
  await put("pic", "FN:Pic", "N:;Pic;;;", photo, "X-ODD;A=b:kept");
  const target = { contact_id: "people/pic.vcf", name: "Pic" };
  expect(await run("update_contact", { ...target, phones: [{ number: "+49 1" }] })).toMatchObject({ has_photo: true });
  const { text } = await radicale.ask("GET", "/ana/people/pic.vcf");
  expect(text.replaceAll(/\r\n /g, "")).toMatch(/PHOTO;[^\r\n]*\/9j\/4AAQSkZJRgABAQ/);
  expect(text).toMatch(/X-ODD;A=b:kept/);
  expect(text).toContain("TEL:+49 1");
  expect(await run("delete_contact", target)).toMatchObject({ deleted: true });
  expect((await radicale.ask("GET", "/ana/people/pic.vcf")).status).toBe(404);
});

it("does not write over what somebody else wrote after the contact was read", async () => {
  await put("race", "FN:Race", "N:;Race;;;");
  radicale.disturb(async ({ method }) => {
    if (method !== "PUT") return undefined;
    radicale.disturb(() => undefined);
    await put("race", "FN:Race", "N:;Race;;;", "NOTE:Theirs");
    return undefined;
  });
  const change = { contact_id: "people/race.vcf", name: "Race", note: "Mine" };
  expect(await refusal(run("update_contact", change))).toMatchObject({ status: 409, code: "conflict" });
  expect((await radicale.ask("GET", "/ana/people/race.vcf")).text).toContain("NOTE:Theirs");
});
