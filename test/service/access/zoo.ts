import type { Integration } from "../../../src/apps/port/integration.ts";
import type { SideEffectLevel } from "../../../src/shared/wire/catalog.ts";

/** Apps whose names differ in little. */
export interface Zoo {
  readonly integrations: readonly Integration[];
  /** `<slug>/<action id> <connection id>` of each call that ran, in order. */
  readonly ran: string[];
}

const APPS: Readonly<Record<string, Readonly<Record<string, SideEffectLevel>>>> = {
  mail: { send: "write", send_all: "write", "list-send": "read", getItem: "read", delete_item: "delete" },
  "mail-list": { send: "write", "send-all": "write", get: "read", purge: "admin" },
  maillist2: { send: "write", "delete-item": "delete", delete_items: "delete" },
};

/** Makes the apps; connect them with any settings. */
export function createZoo(): Zoo {
  const ran: string[] = [];
  const integrations = Object.entries(APPS).map(([slug, actions]): Integration => {
    return {
      slug,
      name: slug,
      description: "Things for tests.",
      category: "tests",
      scopes: [],
      actions: Object.entries(actions).map(([id, level]) => ({
        id,
        title: id,
        description: id,
        level,
        requiresConfirmation: level !== "read",
        idempotent: false,
        scopes: [],
        inputSchema: { type: "object", properties: {}, additionalProperties: true },
        async run(_args, { connection }) {
          ran.push(`${slug}/${id} ${connection.id}`);
          return {};
        },
      })),
      async checkSettings() {},
    };
  });
  return { integrations, ran };
}
