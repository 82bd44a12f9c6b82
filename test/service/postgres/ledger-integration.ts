import { appendFile, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Action, Integration } from "../../../src/apps/port/integration.ts";

/** Milliseconds a `ledger_write` takes, so that equal requests overlap. */
const WRITE_MS = 15;

const inputSchema = {
  type: "object",
  properties: { text: { type: "string" } },
  required: ["text"],
  additionalProperties: false,
};
const write = { level: "write", requiresConfirmation: true, idempotent: false, scopes: [], inputSchema } as const;

const actions: Action[] = [
  {
    ...write,
    id: "write",
    title: "Write",
    description: "Adds a line to the ledger.",
    async run({ text }, { connection }) {
      await sleep(WRITE_MS);
      await appendFile(String(connection.settings.file), `${text}\n`);
      return { written: text, pid: process.pid };
    },
  },
  {
    ...write,
    id: "hang",
    title: "Hang",
    description: "Says that it began, and never ends.",
    async run({ text }, { connection }) {
      await writeFile(`${connection.settings.file}.${text}`, String(process.pid));
      return new Promise(() => {});
    },
  },
];

/** An app that adds lines to a file which all processes of a test see: each line is one effect. */
export const ledgerIntegration: Integration = {
  slug: "ledger",
  name: "Ledger",
  description: "Lines in a file.",
  category: "tests",
  scopes: [],
  actions,
  async checkSettings() {},
};
