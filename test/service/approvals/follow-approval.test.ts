import { expect, test } from "vitest";
import type { HeldApproval } from "../../../src/service/approvals/approval-rows.ts";
import { followApproval } from "../../../src/service/approvals/follow-approval.ts";

/** What whoever waits for an approval is told of what happened between two looks at it. */

const principal = { accountId: "acc", apiKeyId: "key" } as Parameters<typeof followApproval>[1]["principal"];

/** An approval as it is found by one look after another; a look too many fails. */
function playLooks(...looks: readonly (Partial<HeldApproval> & { readonly behind?: string })[]) {
  const left = [...looks];
  const find = async () => {
    const { behind = null, ...found } = left.shift() ?? expect.fail("It was looked at once more.");
    return { status: "pending", apiKeyId: "key", ...found, row: { behind } } as unknown as HeldApproval;
  };
  return { find, left };
}

const ask = { principal, id: "apr_1" };
const waitMs = 20_000;

test.each([
  ["once it was approved", [{}, {}, { status: "approved" }]],
  ["once it waits anew, behind a failure", [{}, {}, { behind: "apr_0" }]],
  ["once it waits anew again, with the same words", [{ behind: "apr_0" }, { behind: "apr_2" }]],
] as const)("a wait for a change is over %s, also where no look saw what was between", async (_, looks) => {
  const { find, left } = playLooks(...looks);
  await followApproval({ find }, ask, { waitMs });
  expect(left).toEqual([]);
});

test("a wait for the end goes on while it waits anew", async () => {
  const { find, left } = playLooks({}, { behind: "apr_0" }, { status: "approved" }, { status: "done" });
  expect(await followApproval({ find }, ask, { waitMs, toEnd: true })).toMatchObject({ status: "done" });
  expect(left).toEqual([]);
});
