import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { addConnection } from "../../../contract/probe-service.ts";
import { openStoreOf } from "../../../service/find-store.ts";
import { type ApprovalKit, openApprovalKit } from "./approval-kit.ts";

/** What the gate does where a human's yes would be wasted: on a key that is refused, on a service that is away. */

let kit: ApprovalKit;

beforeEach(async () => {
  kit = await openApprovalKit();
});
afterEach(() => kit.close());

const write = { tool: "probe_write_text", args: { text: "hello" } };
const read = { tool: "probe_echo", args: { text: "hello" } };
const refused = {
  blocked: true,
  reason: expect.stringMatching(/nobody was asked[\s\S]*Do not make this call again[\s\S]*openclaw svc pair/),
};

/** Revokes every key of the service, or takes that back. */
async function setRevoked(revoked_at: string | null): Promise<void> {
  const store = await openStoreOf(kit.service.dataDir);
  await store.updateTable("api_keys").set({ revoked_at }).execute();
  await store.destroy();
}
const revoke = () => setRevoked(new Date().toISOString());

it("blocks a write without a card, also the first one after the refusal began", async () => {
  kit.answers.push("allow-once");
  await kit.play(write);
  await revoke();
  expect(await kit.play({ ...write, args: { text: "other" } })).toMatchObject(refused);
  expect(kit.cards).toHaveLength(1);
  expect(await kit.play(read), "a read tells by itself").toMatchObject({ outcome: { code: "unauthorized" } });
  expect(kit.service.probe.calls).toHaveLength(1);
});

it("works again with the first call after the service takes the key again", async () => {
  kit.answers.push("allow-once", "allow-once");
  await kit.play(write);
  await revoke();
  expect(await kit.play(write)).toMatchObject(refused);
  await setRevoked(null);
  expect(await kit.play(write)).toMatchObject({ outcome: { status: "succeeded" } });
  expect(kit.cards).toHaveLength(2);
});

it("keeps a released call for when the key is taken again", async () => {
  kit.answers.push("nobody");
  await kit.play(write);
  await revoke();
  kit.host.waitingCalls.decide(kit.host.waitingCalls.list()[0]?.code ?? "", "approve");
  expect(await kit.play(write)).toMatchObject(refused);
  await setRevoked(null);
  expect(await kit.play(write)).toMatchObject({ outcome: { status: "succeeded" } });
  expect(kit.cards).toHaveLength(1);
});

it("asks nobody which account to use", async () => {
  await addConnection(kit.service.service, "Second");
  await kit.play(write);
  expect(kit.questions).toHaveLength(1);
  await revoke();
  expect(await kit.play(write)).toMatchObject(refused);
  expect(kit.questions).toHaveLength(1);
});

it("asks the service once for a card, and nothing for a read", async () => {
  const { session } = await kit.host.openAccount(undefined);
  const asked = vi.spyOn(session.client, "listTools");
  kit.answers.push("allow-once");
  await kit.play(read);
  expect(asked).not.toHaveBeenCalled();
  await kit.play(write);
  expect(kit.cards).toHaveLength(1);
  expect(asked).toHaveBeenCalledTimes(1);
});

it("blocks a write without a card while the service is away, and says what to do", async () => {
  kit.answers.push("allow-once");
  await kit.play(write);
  await kit.service.service.close();
  expect(await kit.play({ ...write, args: { text: "other" } })).toMatchObject({
    blocked: true,
    reason: expect.stringMatching(/does not answer now[\s\S]*nobody was asked[\s\S]*openclaw svc status/),
  });
  expect(kit.cards).toHaveLength(1);
});
