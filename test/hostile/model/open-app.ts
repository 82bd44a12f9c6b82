import type { Action, Integration } from "../../../src/apps/port/integration.ts";

/** An app whose actions take anything, and what they were called with. */
export interface OpenApp {
  readonly integration: Integration;
  readonly calls: {
    readonly action: string;
    readonly args: Readonly<Record<string, unknown>>;
    readonly account: string;
  }[];
}

/** Actions `look`, which reads, `change`, which must be confirmed, and `attach`, which takes files. */
export function createOpenApp(): OpenApp {
  const calls: OpenApp["calls"] = [];
  const file = {
    type: "object",
    file_uploadable: true,
    properties: { name: { type: "string" }, mimetype: { type: "string" }, s3key: { type: "string" } },
    required: ["name", "mimetype", "s3key"],
  };
  const inputSchema = { type: "object", properties: { text: {} }, additionalProperties: true };
  const action = (id: string, facts: Partial<Action> = {}): Action => ({
    id,
    title: id,
    description: `Does ${id}.`,
    level: "read",
    requiresConfirmation: false,
    idempotent: false,
    scopes: [],
    inputSchema,
    run: async (args, { connection }) => {
      calls.push({ action: id, args, account: connection.label });
      return { done: id, args };
    },
    ...facts,
  });
  const write = { level: "write", requiresConfirmation: true } as const;
  const actions = [
    action("look"),
    action("change", write),
    action("attach", {
      ...write,
      inputSchema: {
        type: "object",
        properties: {
          text: {},
          file,
          many: { type: "array", items: file },
          deep: { type: "object", properties: { file } },
        },
        additionalProperties: true,
      },
    }),
  ];
  const integration: Integration = {
    slug: "open",
    name: "Open",
    description: "Takes anything.",
    category: "test",
    scopes: [],
    actions,
    checkSettings: async () => {},
  };
  return { integration, calls };
}
