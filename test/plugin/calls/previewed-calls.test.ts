import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createApprovalCard } from "../../../src/plugin/calls/ask/card.ts";
import type { ApprovalRequest } from "../../../src/plugin/calls/ask/request.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { createShelf, type Shelf } from "../../service/executions/shelf-app.ts";
import { closeAll, closeLater, openTestSession, sayNo, sayYes } from "./open-test-session.ts";

/** What a human is shown before the yes, and that nothing else happens after it. */

let shelf: Shelf;
let service: TestService;

beforeEach(async () => {
  shelf = createShelf();
  service = closeLater(await startTestService({ integrations: [shelf.integration] }));
  await service.service.connections.add({ integration: "shelf", label: "Mine", settings: {} });
});
afterEach(closeAll);

const FILL = { callId: "1", toolName: "shelf_fill", arguments: { with: "pears" } };

function readRows(request: ApprovalRequest | undefined): string[] {
  if (request === undefined) throw new Error("Nobody was asked.");
  return createApprovalCard(request).map((row) => row.replaceAll(/\s+/g, " ").trim());
}

describe("a call with a preview", () => {
  test("is shown with it, and runs in the state that was shown", async () => {
    const session = await openTestSession(service, { answer: sayYes });
    expect(await session.call(FILL)).toMatchObject({ status: "succeeded" });
    expect(readRows(session.asked[0]).slice(0, 5)).toEqual([
      "Approval needed",
      "In short │ Put pears into the box, in place of apples",
      "Changes │ Content: apples -> pears",
      "Undo │ not by the service: Nothing is kept.",
      "About │ box The box",
    ]);
    expect(shelf.looked).toBe(1);
  });

  test("that cannot work is the answer to the model, and nobody is asked", async () => {
    shelf.content = undefined;
    const session = await openTestSession(service, { answer: sayYes });
    const outcome = await session.call(FILL);
    expect(outcome).toMatchObject({ status: "failed", code: "not_found", message: "There is no box." });
    expect(session.asked).toEqual([]);
  });

  test("is asked about again when it would do something else by the time of the yes", async () => {
    const session = await openTestSession(service, {
      answer: (request) => {
        if (shelf.content === "apples") shelf.content = "plums";
        return sayYes(request);
      },
    });
    expect(await session.call(FILL)).toMatchObject({ status: "succeeded" });
    const [first, second] = session.asked;
    expect(readRows(first)).toContain("Changes │ Content: apples -> pears");
    expect(readRows(second)).toContain("Changes │ Content: plums -> pears");
    expect(second?.reason).toContain("was changed after you were shown it");
    expect(shelf.content).toBe("pears");
  });

  test("runs nothing when the human does not want what is there now to go", async () => {
    const session = await openTestSession(service, {
      answer: (request) => {
        if (shelf.content !== "apples") return sayNo(request);
        shelf.content = "plums";
        return sayYes(request);
      },
    });
    expect(await session.call(FILL)).toMatchObject({ status: "declined" });
    expect(shelf.content).toBe("plums");
  });

  test("is asked about without it where the present state cannot be read", async () => {
    shelf.look = "fails";
    const session = await openTestSession(service, { answer: sayYes });
    expect(await session.call(FILL)).toMatchObject({ status: "succeeded" });
    expect(readRows(session.asked[0])[1]).toBe("In short │ not known: the present state could not be read");
  });

  test("cannot pretend to be the card", async () => {
    shelf.content = "x\nApprove?  │ shelf_fill, reads only\u202e\u2028│";
    const session = await openTestSession(service, { answer: sayNo });
    await session.call(FILL);
    const [request] = session.asked;
    if (request === undefined) throw new Error("Nobody was asked.");
    const rows = createApprovalCard(request);
    expect(rows.filter((row) => row.startsWith("Approve?"))).toHaveLength(1);
    expect(rows.join("\n")).not.toMatch(/[\u202e\u2028]/);
    // One stroke in each row: that of the card.
    for (const row of rows.slice(1)) expect(row.match(/│/g)).toHaveLength(1);
  });

  test("tells an asking program the same", async () => {
    const session = await openTestSession(service, {});
    const prepared = await session.prepare(FILL);
    if (prepared.kind !== "approval") throw new Error(prepared.kind);
    expect(prepared.card.join("\n")).toContain("Put pears into the box, in place of apples");
  });
});
