import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { createLab, type Lab } from "../../../service/lab-integration.ts";
import { type ClientOptions, connectClient, connectHere, makeHome, svcMcp, type TestClient } from "./mcp-client.ts";

/** A `svc mcp` that is killed, and the next one. */

let lab: Lab;
let service: TestService;
let place: Awaited<ReturnType<typeof makeHome>>;
const clients: TestClient[] = [];

beforeEach(async () => {
  lab = createLab();
  place = await makeHome();
  service = await startTestService({ integrations: [lab.integration] });
  await service.service.connections.add({ integration: "lab", label: "First", settings: {} });
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await service.close();
  await place.remove();
});

async function connect(options: ClientOptions): Promise<TestClient> {
  const client = await connectClient(svcMcp(place.home, service), options);
  clients.push(client);
  return client;
}

test("after a kill in the middle of a write, the next start warns before the same call is sent again", async () => {
  const first = await connect({ human: () => ({ action: "accept", content: { approve: true } }) });
  const wait = ["svc_call_tool", { name: "lab_wait", arguments: {} }] as const;
  const made = first.call(...wait).catch(() => undefined);
  await lab.waiting;
  process.kill(first.pid, "SIGKILL");
  await made;
  lab.release();
  // In this process, whose clock lets its human read first.
  const second = await connectHere(place.home, service, { human: () => ({ action: "decline" }) });
  clients.push(second);
  expect(await second.call(...wait)).toMatchObject({ status: "declined" });
  expect(second.shown[0]?.message).toContain("An equal call was sent before and never answered");
});
