import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { startTestService } from "../../../../src/testing.ts";
import { tallyIntegration } from "./tally-integration.ts";

test("counts, only when a human confirmed it, and says what a failure means", async (t) => {
  let count = 0;
  let status = 200;
  const server = createServer(({ method }, response) => {
    if (method === "POST") count += 1;
    response.writeHead(status).end(JSON.stringify({ count }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close());
  const service = await startTestService({ integrations: [tallyIntegration] });
  t.after(() => service.close());
  const place = server.address();
  const address = `http://127.0.0.1:${typeof place === "object" ? place?.port : ""}`;
  const settings = { address, token: "token" };
  await service.service.connections.add({ integration: "tally", label: "Home", settings });

  async function call(tool: string, confirmed = false) {
    const headers = { "x-svc-api-key": service.apiKey, "content-type": "application/json" };
    const body = JSON.stringify({ arguments: { thing: "cups of tea" }, confirmed });
    const answer = await fetch(`${service.url}/api/tools/${tool}/execute`, { method: "POST", headers, body });
    const { result, error } = (await answer.json()) as { result?: unknown; error?: { code: string } };
    return [answer.status, result ?? error?.code];
  }
  assert.deepEqual(await call("tally_add_one"), [412, "confirmation_required"]);
  assert.equal(count, 0);
  assert.deepEqual(await call("tally_add_one", true), [200, { count: 1 }]);
  assert.deepEqual(await call("tally_read_count"), [200, { count: 1 }]);
  status = 500;
  assert.deepEqual(await call("tally_add_one", true), [500, "outcome_unknown"]);
  assert.deepEqual(await call("tally_read_count"), [503, "provider_unavailable"]);
  status = 401;
  assert.deepEqual(await call("tally_read_count"), [401, "needs_reauth"]);
});
