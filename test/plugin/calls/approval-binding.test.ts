import { createHash } from "node:crypto";
import { utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFingerprint } from "../../../src/plugin/calls/ask/fingerprint.ts";
import type { ApprovalRequest } from "../../../src/plugin/calls/ask/request.ts";
import { addConnection, type ProbeService, startProbeService } from "../../contract/probe-service.ts";
import { verifies } from "../../contract/verifies.ts";
import { MD5_COLLISION } from "../../fixtures/md5-collision.ts";
import { closeAll, closeLater, makeFolder, openTestSession, sayNo, sayYes } from "./open-test-session.ts";

/** What a decision is bound to, and that nothing happens without one. */

let service: ProbeService;
beforeEach(async () => {
  service = closeLater(await startProbeService());
});
afterEach(closeAll);

const write = { callId: "call_1", toolName: "probe_write_text", arguments: { text: "hello" } };

async function expectNothingHappened(): Promise<void> {
  expect(service.probe.calls).toEqual([]);
  expect(await service.effects()).toEqual([]);
}

describe("asking first", () => {
  it("shows a write before any request is sent, then sends exactly what was shown, confirmed, once", async () => {
    verifies("execute.handled-412", "execute.confirmed-only-after-approval");
    const session = await openTestSession(service, {
      answer: (request) => {
        expect(session.events.some((event) => event.type === "sending")).toBe(false);
        return sayYes(request);
      },
    });
    const outcome = await session.call(write);
    expect(outcome.status).toBe("succeeded");
    expect(session.asked).toHaveLength(1);
    expect(session.asked[0]).toMatchObject({
      tool: "probe_write_text",
      integration: "probe",
      account: "First",
      connection: service.connectionId,
      arguments: { text: "hello" },
      effect: "write",
    });
    expect(service.probe.calls.map((call) => call.args)).toEqual([{ text: "hello" }]);
  });

  it("declined: no request, no effect, and the model is told not to try again", async () => {
    const session = await openTestSession(service, { answer: sayNo });
    const outcome = await session.call(write);
    expect(outcome).toMatchObject({ status: "declined", code: "declined", retryable: false });
    expect(outcome.message).toContain("not now");
    expect(session.events.some((event) => event.type === "sending")).toBe(false);
    await expectNothingHappened();
  });

  it("nobody to ask: needs_approval, nothing sent", async () => {
    const session = await openTestSession(service);
    const outcome = await session.call(write);
    expect(outcome).toMatchObject({ status: "needs_approval", code: "approval_required" });
    await expectNothingHappened();
  });

  it("a model cannot confirm by itself", async () => {
    const session = await openTestSession(service, { answer: sayNo });
    const args = { text: "hello", confirmed: true, confirm: true, connectionId: "1", files: [] };
    const outcome = await session.call({ ...write, arguments: args });
    expect(outcome.status).toBe("declined");
    expect(session.asked[0]?.arguments).toEqual({ text: "hello" });
    expect(outcome.notes.join(" ")).toContain("only a human can confirm");
    await expectNothingHappened();
  });

  it("a read asks nobody", async () => {
    const session = await openTestSession(service, { answer: sayNo });
    const outcome = await session.call({ callId: "r", toolName: "probe_echo", arguments: { text: "a" } });
    expect(outcome.status).toBe("succeeded");
    expect(session.asked).toEqual([]);
  });
});

describe("a decision counts only for its own request", () => {
  let earlier: ApprovalRequest | undefined;
  const now = { ms: Date.parse("2026-11-20T10:00:00Z") };
  it.each<[string, string, (request: ApprovalRequest) => unknown]>([
    ["the wrong id", "approval_wrong_id", (request) => ({ ...sayYes(request), id: "another" })],
    [
      "another fingerprint",
      "approval_wrong_fingerprint",
      (request) => ({ ...sayYes(request), fingerprint: "0".repeat(64) }),
    ],
    ["plain true", "approval_malformed", () => true],
    ["nothing", "approval_malformed", () => undefined],
    ["an exception", "approval_failed", () => Promise.reject(new Error("dialog closed"))],
    [
      "an answer after expiry",
      "approval_expired",
      (request) => {
        now.ms += 10 * 60 * 1_000;
        return sayYes(request);
      },
    ],
    [
      "an answer after expiry, to a request that the approver prolonged",
      "approval_expired",
      (request) => {
        now.ms += 10 * 60 * 1_000;
        return sayYes(Object.assign(request, { expiresAt: "2099-01-01T00:00:00Z" }));
      },
    ],
  ])("%s: nothing runs", async (_name, code, answer) => {
    const session = await openTestSession(service, { answer, now: () => now.ms });
    const outcome = await session.call(write);
    expect(outcome).toMatchObject({ status: "needs_approval", code });
    await expectNothingHappened();
  });

  it("an answer given before does not count again", async () => {
    const session = await openTestSession(service, {
      answer: (request) => {
        earlier ??= request;
        return sayYes(earlier);
      },
    });
    expect((await session.call(write)).status).toBe("succeeded");
    const replayed = await session.call({ ...write, callId: "call_2" });
    expect(replayed).toMatchObject({ status: "needs_approval", code: "approval_wrong_id" });
    expect(service.probe.calls).toHaveLength(1);
  });

  it("a silent approver ends as needs_approval when the request expires", async () => {
    const session = await openTestSession(service, { answer: () => new Promise(() => {}), approvalTtlMs: 30 });
    expect(await session.call(write)).toMatchObject({ status: "needs_approval", code: "approval_expired" });
    await expectNothingHappened();
  });

  it("what an approver does to its copy changes nothing", async () => {
    const session = await openTestSession(service, {
      answer: (request) => {
        request.arguments.text = "tampered";
        return sayYes(request);
      },
    });
    await session.call(write);
    expect(service.probe.calls[0]?.args).toEqual({ text: "hello" });
  });

  it.each<[string, Parameters<typeof openTestSession>[1], Partial<typeof write> & { connectionId?: string }]>([
    ["other arguments", {}, { arguments: { text: "goodbye" } }],
    ["another account", {}, { connectionId: "second" }],
    ["another principal", { key: "second" }, {}],
  ])("%s make another fingerprint", async (_name, settings, change) => {
    const second = await addConnection(service.service, "Second");
    const key = settings?.key === undefined ? {} : { key: await service.createKey() };
    const first = await openTestSession(service, { answer: sayNo });
    await first.call({ ...write, connectionId: service.connectionId });
    const other = await openTestSession(service, { answer: sayNo, ...key });
    const connectionId = change.connectionId === undefined ? service.connectionId : second.id;
    await other.call({ ...write, ...change, connectionId });
    expect(other.asked[0]?.fingerprint).not.toBe(first.asked[0]?.fingerprint);
    await expectNothingHappened();
  });
});

describe("files are part of what is approved", () => {
  it("names type, size and digest, and a file changed after the yes is not sent", async () => {
    const session = await openTestSession(service, {
      answer: async (request) => {
        await writeFile(join(session.media, "a.txt"), "two");
        await utimes(join(session.media, "a.txt"), new Date(), new Date(Date.now() + 5_000));
        return sayYes(request);
      },
    });
    const path = join(session.media, "a.txt");
    await writeFile(path, "one");
    const outcome = await session.call({ callId: "f", toolName: "probe_store_file", arguments: { file: path } });
    expect(session.asked[0]?.files).toEqual([
      {
        field: "file",
        name: "a.txt",
        mimetype: "text/plain",
        size: 3,
        md5: "f97c5d29941bfb1b2fdab0874906ab82",
        sha256: createHash("sha256").update("one").digest("hex"),
        reference: path,
      },
    ]);
    expect(outcome).toMatchObject({ status: "failed", code: "file_changed" });
    expect(outcome.hint).toContain("sees the file as it is now");
    await expectNothingHappened();
  });
});

describe("a file made to have the MD5 of another", () => {
  const TIME = new Date("2026-01-02T03:04:05Z");
  const [first, second] = MD5_COLLISION;
  const store = (file: string) => ({ callId: "f", toolName: "probe_store_file", arguments: { file } });
  const put = async (path: string, bytes: Buffer) => {
    await writeFile(path, bytes);
    await utimes(path, TIME, TIME);
  };

  it.each(["envelope", "ingest"] as const)("is not sent in its place after the yes, by %s", async (upload) => {
    const session = await openTestSession(service, {
      upload,
      answer: async (request) => {
        await put(join(session.media, "a.bin"), second);
        return sayYes(request);
      },
    });
    const path = join(session.media, "a.bin");
    await put(path, first);
    expect(await session.call(store(path))).toMatchObject({ status: "failed", code: "file_changed" });
    await expectNothingHappened();
  });

  it("is asked about after a restart, although the other one was approved", async () => {
    const [stateDir, folder] = [await makeFolder(), await makeFolder()];
    const path = join(folder, "a.bin");
    await put(path, first);
    const before = await openTestSession(service, { stateDir, mediaRoots: [folder], answer: sayNo });
    const call = store(path);
    await before.call({ ...call, callId: "seen" });
    const { id, fingerprint, expiresAt } = before.asked[0] ?? expect.fail();
    const { toolName: tool, arguments: args } = call;
    const key = createFingerprint({
      tool,
      arguments: args,
      connection: undefined,
      files: [],
      principal: before.principal,
    });
    const approval = { id, fingerprint, expiresAt };
    await before.journal.record({ callId: "f", fingerprint: key, state: "approved", at: Date.now(), tool, approval });
    await before.close();
    await put(path, second);
    const later = await openTestSession(service, { stateDir, mediaRoots: [folder], answer: sayNo });
    expect((await later.call(call)).status).toBe("declined");
    await expectNothingHappened();
    await put(path, first);
    const same = await openTestSession(service, { stateDir: await makeFolder(), mediaRoots: [folder], answer: sayNo });
    await same.journal.record({ callId: "f", fingerprint: key, state: "approved", at: Date.now(), tool, approval });
    expect((await same.call(call)).status).toBe("succeeded");
    expect(same.asked).toEqual([]);
  });
});

describe("edits", () => {
  it("what the human typed is sent without a second question when every check passes", async () => {
    const session = await openTestSession(service, {
      answer: (request) => ({ ...sayYes(request), type: "edit", arguments: { text: "edited" } }),
    });
    const outcome = await session.call(write);
    expect(outcome.status).toBe("succeeded");
    expect(session.asked).toHaveLength(1);
    expect(outcome.notes).toContain("the user edited the arguments");
    expect(service.probe.calls.map((call) => call.args)).toEqual([{ text: "edited" }]);
  });

  it("an edit that a check changed is shown again, under a new fingerprint", async () => {
    const answers = [{ type: "edit", arguments: { text: "a", times: "3" } }, { type: "decline" }];
    const session = await openTestSession(service, {
      answer: ({ id, fingerprint }) => ({ id, fingerprint, ...answers.shift() }),
    });
    await session.call(write);
    expect(session.asked).toHaveLength(2);
    const [first, second] = session.asked;
    expect(second?.fingerprint).toBe(first?.fingerprint);
    expect(second?.id).not.toBe(first?.id);
    expect(second?.reason).toContain("times");
    expect(second?.arguments).toEqual({ text: "hello" });
    await expectNothingHappened();
  });

  it("an edit with several faults says each of them by itself", async () => {
    const answers = [{ type: "edit", arguments: { txet: "a" } }, { type: "decline" }];
    const session = await openTestSession(service, {
      answer: ({ id, fingerprint }) => ({ id, fingerprint, ...answers.shift() }),
    });
    await session.call(write);
    expect(session.asked[1]?.reason).toMatch(/text: [^;]+; txet: [^;]+$/);
  });

  it("an edit that names another file is shown with that file", async () => {
    const paths: Record<string, string> = {};
    const session = await openTestSession(service, {
      answer: ({ id, fingerprint }) =>
        session.asked.length === 1
          ? {
              type: "edit",
              id,
              fingerprint,
              arguments: { file: { name: "b.txt", mimetype: "text/plain", s3key: paths.b } },
            }
          : { type: "approve", id, fingerprint },
    });
    for (const name of ["a", "b"]) {
      paths[name] = join(session.media, `${name}.txt`);
      await writeFile(paths[name], `file ${name}`);
    }
    const outcome = await session.call({ callId: "e", toolName: "probe_store_file", arguments: { file: paths.a } });
    expect(outcome.status).toBe("succeeded");
    expect(session.asked.map((request) => request.files[0]?.name)).toEqual(["a.txt", "b.txt"]);
    expect(session.asked[1]?.fingerprint).not.toBe(session.asked[0]?.fingerprint);
    expect(service.probe.calls[0]?.files[0]?.name).toBe("b.txt");
  });

  it.each(['{"text":"a","__proto__":{"x":1}}', '{"text":"a","constructor":1,"__proto__":null}'])(
    "nothing of an edit is left out silently: %s",
    async (typed) => {
      const answers = [{ type: "edit", arguments: JSON.parse(typed) }, { type: "decline" }];
      const session = await openTestSession(service, {
        answer: ({ id, fingerprint }) => ({ id, fingerprint, ...answers.shift() }),
      });
      expect((await session.call(write)).status).toBe("declined");
      expect(session.asked).toHaveLength(2);
      await expectNothingHappened();
    },
  );

  it("endless edits end as declined", async () => {
    const session = await openTestSession(service, {
      answer: ({ id, fingerprint }) => ({ type: "edit", id, fingerprint, arguments: { wrong: session.asked.length } }),
    });
    expect((await session.call(write)).status).toBe("declined");
    await expectNothingHappened();
  });
});

describe("standing permissions", () => {
  it("only a human's decision sets one; it holds for tool and account, over a restart, until revoked", async () => {
    const stateDir = await makeFolder();
    const first = await openTestSession(service, {
      stateDir,
      answer: (request) => ({ ...sayYes(request), always: true }),
    });
    await first.call(write);
    await first.close();
    const later = await openTestSession(service, { stateDir, answer: sayNo });
    expect((await later.call({ ...write, callId: "call_2" })).status).toBe("succeeded");
    expect(later.asked).toEqual([]);
    const other = await later.call({ callId: "call_3", toolName: "probe_fail_write", arguments: { how: "crash" } });
    expect(other.status).toBe("declined");
    const second = await addConnection(service.service, "Second");
    expect((await later.call({ ...write, callId: "call_4", connectionId: second.id })).status).toBe("declined");
    for (const rule of later.rules.list()) await later.rules.revoke(rule);
    const revoked = await later.call({ ...write, callId: "call_5", connectionId: service.connectionId });
    expect(revoked.status).toBe("declined");
  });
});
