import type { Integration } from "../../src/service.ts";

/** An app whose one write does nothing and so costs what the service does around it. */
export const idleApp: Integration = {
  slug: "idle",
  name: "Idle",
  description: "Does nothing.",
  category: "bench",
  scopes: [],
  actions: [
    {
      id: "write",
      title: "Write",
      description: "Writes nothing.",
      level: "write",
      requiresConfirmation: true,
      idempotent: false,
      scopes: [],
      inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      run: async ({ text }) => ({ written: text }),
    },
  ],
  checkSettings: async () => {},
};
