import { expect, test } from "vitest";
import { listErrands } from "../../../src/service/http/pages/errands.ts";
import type { ServiceParts } from "../../../src/service/http/service-parts.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import type { Flow } from "../../../src/shared/wire/flow.ts";

function listWith(get: () => Promise<never>): ReturnType<typeof listErrands> {
  const flow = { id: "flw_old", status: "failed" } as Flow;
  const none = { listWaiting: async () => [], countWaiting: async () => 0 };
  const flows = { ...none, list: async () => [flow], get };
  const sources = { listMarks: async () => [] };
  const parts = { flows, approvals: { ...none, list: async () => [] }, sources } as unknown as ServiceParts;
  return listErrands(parts, "acc", []);
}

test("calls of one tool are told apart by what they are about", async () => {
  const hold = (id: string, args: object) => {
    const content = { title: "Send a message", account: "Ana’s mail", arguments: args };
    return { id, toolName: "mail_send_message", requestedAt: "", content };
  };
  const calls = [hold("apr_2", { to: ["ben@example.org"], subject: "The quote" }), hold("apr_1", { confirm: true })];
  const none = { listWaiting: async () => [], countWaiting: async () => 0, list: async () => [] };
  const approvals = { list: async () => calls, countWaiting: async () => calls.length };
  const sources = { listMarks: async () => [] };
  const errands = await listErrands({ flows: none, approvals, sources } as unknown as ServiceParts, "acc", []);
  expect(errands.map(({ text }) => text)).toEqual([
    "A call waits for your approval: The quote · ben@example.org, on Ana’s mail.",
    "A call waits for your approval: Ana’s mail.",
  ]);
});

test("a flow that is removed while the home page is made is left out", async () => {
  const missing = new ServiceError(404, "flow_not_found", "Flow not found.", { bare: true });
  expect(await listWith(() => Promise.reject(missing))).toEqual([]);
});

test("a store that is away is told", async () => {
  const away = new ServiceError(503, "database_unavailable", "Away.");
  await expect(listWith(() => Promise.reject(away))).rejects.toBe(away);
});
