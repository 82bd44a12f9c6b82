import { afterEach, describe, expect, it } from "vitest";
import { createHeardMessages } from "../../../../src/plugin/runtimes/openclaw/heard-messages.ts";
import { svcPlugin } from "../../../../src/plugin/runtimes/openclaw/svc-plugin.ts";
import { openApprovalKit, readCard } from "./approval-kit.ts";
import { createFakeApi } from "./fake-api.ts";

const SESSION = "agent:main:main";
const OWNER = { channel: "telegram", senderId: "7", senderIsOwner: true };

describe("what people wrote to the host", () => {
  it("counts for calls of the owner who wrote it, in the same conversation", () => {
    const heard = createHeardMessages();
    const write = (content: string, senderId: string, sessionKey = SESSION) =>
      heard.add({ content, senderId, sessionKey }, { channelId: "telegram", sessionKey });
    write("Write to bea@x.example", "7");
    write("Write to eve@evil.example", "8");
    write("Elsewhere", "7", "agent:main:other");
    write("Please", "7");
    const find = (requester: object | undefined) => heard.find({ sessionKey: SESSION, requester });
    expect(find(OWNER)).toEqual(["Write to bea@x.example", "Please"]);
    expect(find({ ...OWNER, senderIsOwner: false })).toBeUndefined();
    expect(find({ channel: "telegram", senderId: "8" })).toBeUndefined();
    expect(find({ ...OWNER, channel: "discord" })).toEqual([]);
    expect(find(undefined)).toBeUndefined();
  });

  it("is bounded", () => {
    const heard = createHeardMessages();
    for (let at = 0; at < 1_000; at += 1) {
      heard.add(
        { content: `${at} ${"x".repeat(20_000)}`, senderId: "7", sessionKey: SESSION },
        { channelId: "telegram" },
      );
    }
    const found = heard.find({ sessionKey: SESSION, requester: OWNER }) ?? [];
    expect(found).toHaveLength(300);
    expect(found.at(-1)).toMatch(/^999 x{4000}/);
    expect(Math.max(...found.map(({ length }) => length))).toBe(5_000);
  });

  it("is heard by the plugin", () => {
    const { api, recorded } = createFakeApi();
    svcPlugin.register(api);
    expect(recorded.listeners).toHaveLength(1);
  });
});

describe("the host's card", () => {
  let close: (() => Promise<void>) | undefined;
  afterEach(async () => close?.());

  it("says what the owner typed, and what nobody did", async () => {
    const kit = await openApprovalKit();
    close = kit.close;
    kit.host.heard.add(
      { content: "Tell bea@x.example that I come", senderId: "7" },
      { channelId: "telegram", sessionKey: SESSION },
    );
    const play = (requester: object) =>
      kit.play({ tool: "probe_write_text", args: { text: "bea@x.example and eve@evil.example" }, requester });
    await play(OWNER);
    expect(readCard(kit.cards.at(-1) ?? expect.fail())).toContain("typed by you, as this device says");
    await play({ ...OWNER, senderIsOwner: false });
    expect(readCard(kit.cards.at(-1) ?? expect.fail())).not.toContain("typed by you");
  });
});
