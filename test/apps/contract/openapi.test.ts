import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepareOpenApi } from "../../../src/apps/openapi/prepare-openapi.ts";
import { openSourceAdmin } from "../../../src/service/added/open-source-admin.ts";
import { startTestService } from "../../../src/testing.ts";
import { waitForTool } from "../../service/added/wait-for-tool.ts";
import { startMockApi } from "../openapi/mock-api.ts";
import { describeIntegrationContract } from "./describe-integration-contract.ts";
import { HTTP_FAULTS, meetsFaults } from "./http-faults.ts";

const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Tracker", version: "1" },
  security: [{ token: [] }],
  components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
  paths: {
    "/issues/{id}": {
      get: {
        operationId: "getIssue",
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
      },
    },
    "/issues": {
      post: {
        operationId: "createIssue",
        requestBody: {
          required: true,
          content: {
            "application/json": {
              schema: { type: "object", required: ["title"], properties: { title: { type: "string" } } },
            },
          },
        },
      },
    },
  },
};

describeIntegrationContract("OpenAPI document", setUp, { faults: HTTP_FAULTS });

async function setUp() {
  const folder = await mkdtemp(join(tmpdir(), "svc-contract-"));
  const api = await startMockApi();
  const service = await startTestService({ providerTimeoutMs: 3_000 });
  const admin = await openSourceAdmin({ dataDir: service.dataDir });
  const document = join(folder, "tracker.json");
  await writeFile(document, JSON.stringify(DOCUMENT));
  const place = { slug: "tracker", document, name: undefined, baseUrl: api.url, isPrivate: true, takesToken: false };
  const { source } = await prepareOpenApi(place);
  await admin.add(source, { connection: { label: "Tracker", settings: { token: "tok" } } });
  await waitForTool(service, "tracker_getIssue");
  return {
    service,
    slug: "tracker",
    read: { action: "getIssue", args: { id: "7" } },
    write: { action: "createIssue", args: { title: "Door" } },
    countEffects: async () => api.seen.filter(({ method }) => method === "POST").length,
    badSettings: {},
    ...meetsFaults(api),
    async close() {
      await admin.close();
      await service.close();
      await api.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
