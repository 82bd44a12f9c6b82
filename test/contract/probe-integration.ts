import { createHash } from "node:crypto";
import type { Action, ActionContext, Integration } from "../../src/apps/port/integration.ts";
import { ServiceError } from "../../src/service/service-error.ts";

/** What one action call of the probe saw. */
interface ProbeCall {
  readonly action: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Label of the connection. */
  readonly connection: string;
  /** SHA-256 and declared type of each file, in the order of the arguments `file`, `second`, `third`, `fourth`, `many`. */
  readonly files: readonly { readonly sha256: string; readonly mimetype: string; readonly name: string }[];
}

/** An integration that records what reaches a provider and fails in every documented way. */
export interface Probe {
  readonly integration: Integration;
  readonly calls: ProbeCall[];
}

const FILE = {
  type: "object",
  file_uploadable: true,
  properties: { name: { type: "string" }, mimetype: { type: "string" }, s3key: { type: "string" } },
  required: ["name", "mimetype", "s3key"],
};

const FAILURES: Readonly<Record<string, () => unknown>> = {
  rate_limit: () =>
    new ServiceError(429, "rate_limit", "The provider asks to slow down.", {
      type: "rate_limit",
      retryable: true,
      retryAfterSeconds: 7,
    }),
  unavailable: () =>
    new ServiceError(503, "provider_unavailable", "The provider does not answer.", {
      type: "network",
      retryable: true,
    }),
  misconfigured: () => new ServiceError(422, "integration_misconfigured", "The folder setting is wrong."),
  not_found: () => new ServiceError(404, "file_not_found", "The provider has no such file."),
  crash: () => new Error("secret detail of a crash"),
};

/** Creates a probe with its own record of calls. Slug `probe`; one action per kind of behaviour. */
export function createProbe(): Probe {
  const calls: ProbeCall[] = [];
  const action = (
    id: string,
    facts: Partial<Action>,
    properties: Record<string, unknown>,
    required: string[],
  ): Action => ({
    id,
    title: id,
    description: `Probes ${id.replaceAll("_", " ")}.`,
    level: "read",
    requiresConfirmation: false,
    idempotent: false,
    scopes: [],
    inputSchema: { type: "object", properties, required, additionalProperties: false },
    run: async (args, context) => {
      const files = await readFiles(args, context);
      calls.push({ action: id, args, connection: context.connection.label, files });
      const failure = FAILURES[String(args.how)];
      if (failure !== undefined) throw failure();
      return { action: id, args, connection: context.connection.label };
    },
    ...facts,
  });
  const write = { level: "write", requiresConfirmation: true } as const;
  const actions = [
    action("echo", {}, { text: { type: "string" }, times: { type: "integer" } }, ["text"]),
    action("fail", {}, { how: { enum: Object.keys(FAILURES) } }, ["how"]),
    action("fail_write", write, { how: { enum: Object.keys(FAILURES) } }, ["how"]),
    action(
      "look_at_file",
      {},
      { file: FILE, second: FILE, third: FILE, fourth: FILE, many: { type: "array", items: FILE } },
      ["file"],
    ),
    action("restricted", { scopes: ["probe.extra"] }, {}, []),
    action("store_file", write, { file: FILE }, ["file"]),
    action("write_text", write, { text: { type: "string" }, amount: { type: "integer" } }, ["text"]),
  ];
  const integration: Integration = {
    slug: "probe",
    name: "Probe",
    description: "Records calls.",
    category: "test",
    scopes: ["probe.extra"],
    actions,
    checkSettings: async () => {},
  };
  return { integration, calls };
}

async function readFiles(args: Readonly<Record<string, unknown>>, context: ActionContext): Promise<ProbeCall["files"]> {
  const files: { sha256: string; mimetype: string; name: string }[] = [];
  const many = Array.isArray(args.many) ? args.many : [];
  for (const value of [args.file, args.second, args.third, args.fourth, ...many]) {
    if (typeof value !== "object" || value === null || !("s3key" in value)) continue;
    const held = context.file(String(value.s3key));
    const hash = createHash("sha256");
    for await (const chunk of held.open()) hash.update(chunk);
    files.push({ sha256: hash.digest("hex"), mimetype: held.mimetype, name: held.name });
  }
  return files;
}
