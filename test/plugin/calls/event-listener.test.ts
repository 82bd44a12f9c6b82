import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SessionEvent } from "../../../src/plugin/calls/session-events.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { closeAll, closeLater, openTestSession, sayYes } from "./open-test-session.ts";

/** A listener is told what happens, and never decides it. */

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

const WRITE = { callId: "1", toolName: "notes_create_page", arguments: { title: "A", body: "b" } };
const STEPS = ["approval_requested", "sending", "finished"];

/** What is rejected and nobody handles while `work` runs. */
async function catchUnhandled(work: () => Promise<unknown>): Promise<unknown[]> {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  await work();
  // Node tells of a rejection once the queue of microtasks is empty.
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  return unhandled;
}

describe("a listener that fails", () => {
  it.each(STEPS)("at %s changes nothing about the call", async (type) => {
    const told: string[] = [];
    const onEvent = (event: SessionEvent) => {
      told.push(event.type);
      if (event.type === type) throw new Error("the log is full");
    };
    const session = await openTestSession(service, { onEvent, answer: sayYes });
    expect(await session.call(WRITE)).toMatchObject({ status: "succeeded" });
    expect(await service.effects()).toHaveLength(1);
    expect(told).toEqual(STEPS);
  });

  it("later on leaves no rejection that nobody handles", async () => {
    const told: string[] = [];
    const onEvent = async (event: SessionEvent) => {
      told.push(event.type);
      throw new Error("the log is full");
    };
    const session = await openTestSession(service, { onEvent, answer: sayYes });
    const unhandled = await catchUnhandled(async () => {
      expect(await session.call(WRITE)).toMatchObject({ status: "succeeded" });
    });
    expect(unhandled).toEqual([]);
    expect(told).toEqual(STEPS);
  });

  it("does not keep the tools from being listed", async () => {
    const onEvent = () => {
      throw new Error("the log is full");
    };
    const session = await openTestSession(service, { onEvent });
    await session.catalog.sync();
    expect(session.catalog.size).toBeGreaterThan(0);
  });
});
