import { fileURLToPath } from "node:url";
import { describeIntegrationContract } from "../../integrations/contract/describe-integration-contract.ts";
import { HTTP_FAULTS, meetsFaults } from "../../integrations/contract/http-faults.ts";
import { openPieces } from "./open-piece.ts";

const FIXTURE = fileURLToPath(new URL("../../../fixtures/pieces/parcel", import.meta.url));

describeIntegrationContract("community connector", setUp, { faults: HTTP_FAULTS });

async function setUp() {
  const parcel = { piece: "parcel", host: "api.parcel.test", settings: { secret: "key" } };
  const { api, service, close } = await openPieces([FIXTURE], [parcel], { providerTimeoutMs: 5_000 });
  return {
    service,
    slug: "parcel",
    read: { action: "track", args: { id: "7" } },
    write: { action: "send", args: { to: "Ann", service: "ex" } },
    countEffects: async () => api.seen.filter(({ method }) => method === "POST").length,
    badSettings: {},
    ...meetsFaults(api),
    close,
  };
}
