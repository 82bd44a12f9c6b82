import { startTestService } from "../../../../src/testing.ts";
import { startMockApi } from "../../openapi/mock-api.ts";
import { describeIntegrationContract } from "../describe-integration-contract.ts";
import { HTTP_FAULTS, toHttpAnswer } from "../http-faults.ts";
import { tallyIntegration } from "./tally-integration.ts";

const COUNT = { body: '{"count":1}', headers: { "content-type": "application/json" } };

describeIntegrationContract("tally", setUp, { faults: HTTP_FAULTS });

async function setUp() {
  const api = await startMockApi();
  api.behave(COUNT);
  const service = await startTestService({ integrations: [tallyIntegration], providerTimeoutMs: 3_000 });
  const settings = { address: api.url, token: "token" };
  await service.service.connections.add({ integration: "tally", label: "Home", settings });
  return {
    service,
    slug: "tally",
    read: { action: "read_count", args: { thing: "cups of tea" } },
    write: { action: "add_one", args: { thing: "cups of tea" } },
    countEffects: async () => api.seen.filter(({ method }) => method === "POST").length,
    badSettings: { address: "not an address", token: "token" },
    async meet(fault: (typeof HTTP_FAULTS)[number]) {
      const answer = toHttpAnswer(fault);
      if (answer === undefined) await api.stop();
      else api.behave(answer);
    },
    async recover() {
      api.behave(COUNT);
      await api.resume();
    },
    async close() {
      await service.close();
      await api.close();
    },
  };
}
