import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { hasNodes, NODES } from "../../consumers/consumer.ts";
import { invokeTool } from "./host/invoke-tool.ts";
import { createState, type HostState } from "./host/isolated-state.ts";
import { configurePlugin, installPlugin, pairPlugin, syncPlugin } from "./host/set-up-plugin.ts";
import { startGateway } from "./host/start-gateway.ts";
import { getProvided } from "./host/use-host.ts";

/** The README's commands for OpenClaw under the other Node that the host admits; all other tests run it under Node 24. */

let service: TestService;
let state: HostState;

beforeAll(async () => {
  service = await startTestService();
  state = await createState({ modelUrl: "http://127.0.0.1:9/v1", node: NODES["26"] ?? "" });
});

afterAll(async () => {
  await service?.close();
  await state?.remove();
});

test.runIf(hasNodes())(
  "installs, pairs, syncs and calls under Node 26",
  async () => {
    await installPlugin(state, getProvided().tarball);
    await configurePlugin(state, { baseUrl: service.url });
    await pairPlugin(state, service);
    await syncPlugin(state);
    const gateway = await startGateway(state);
    try {
      const read = await invokeTool(gateway, state, "drive_list_files");
      expect(read.text).toContain('"status":"succeeded"');
    } finally {
      await gateway.stop();
    }
  },
  600_000,
);
