import { expect, test } from "vitest";
import { listErrands } from "../../../src/service/http/pages/errands.ts";
import type { ServiceParts } from "../../../src/service/http/service-parts.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import type { Flow } from "../../../src/wire/flow.ts";

function listWith(get: () => Promise<never>): ReturnType<typeof listErrands> {
  const flow = { id: "flw_old", status: "failed" } as Flow;
  const none = { listWaiting: async () => [], countWaiting: async () => 0 };
  const flows = { ...none, list: async () => [flow], get };
  const sources = { listMarks: async () => [] };
  const parts = { flows, approvals: { ...none, list: async () => [] }, sources } as unknown as ServiceParts;
  return listErrands(parts, "acc", []);
}

test("a flow that is removed while the home page is made is left out", async () => {
  const missing = new ServiceError(404, "flow_not_found", "Flow not found.", { bare: true });
  expect(await listWith(() => Promise.reject(missing))).toEqual([]);
});

test("a store that is away is told", async () => {
  const away = new ServiceError(503, "database_unavailable", "Away.");
  await expect(listWith(() => Promise.reject(away))).rejects.toBe(away);
});
