import type { Action, Integration } from "../../src/apps/port/integration.ts";
import { ServiceError, type ServiceErrorStatus } from "../../src/service/service-error.ts";

/** What `lab_fail` can do: a status of the provider, or a crash. A 401 would end the connection for all later calls. */
const FAULTS = ["403", "404", "409", "422", "429", "500", "503", "crash", "nothing", "cycle"] as const;

/** Message of the crash, which belongs into the log and into no answer. */
export const CRASH = "private detail of a crash";

const base = { requiresConfirmation: false, idempotent: true, scopes: [], level: "read" } as const;

const actions: readonly Action[] = [
  {
    ...base,
    id: "open",
    title: "Open",
    description: "Takes anything and returns it.",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, additionalProperties: true },
    run: async (args) => args,
  },
  {
    ...base,
    id: "put",
    title: "Put",
    description: "Stores a thing.",
    level: "write",
    requiresConfirmation: true,
    inputSchema: {
      type: "object",
      properties: {
        title: { type: "string" },
        count: { type: "integer", minimum: 0, maximum: 9 },
        file: {
          type: "object",
          file_uploadable: true,
          properties: { name: { type: "string" }, mimetype: { type: "string" }, s3key: { type: "string" } },
          required: ["name", "mimetype", "s3key"],
        },
      },
      required: ["title"],
      additionalProperties: false,
    },
    run: async ({ title }) => ({ stored: title }),
  },
  {
    ...base,
    id: "fail",
    title: "Fail",
    description: "Fails in a chosen way.",
    inputSchema: {
      type: "object",
      properties: { how: { enum: FAULTS } },
      required: ["how"],
      additionalProperties: false,
    },
    run: async ({ how }) => {
      if (how === "crash") throw new Error(CRASH);
      if (how === "nothing") return undefined;
      if (how === "cycle") return createCycle();
      throw new ServiceError(Number(how) as ServiceErrorStatus, "provider_error", `The provider answered ${how}.`);
    },
  },
];

function createCycle(): unknown {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  return cycle;
}

/** An app that takes anything and fails in every documented way. Slug `lab`. */
export const fuzzIntegration: Integration = {
  slug: "lab",
  name: "Lab",
  description: "Things for tests.",
  category: "tests",
  scopes: [],
  actions,
  checkSettings: async () => {},
};
