import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import type { Action, Integration } from "../../../src/apps/port/integration.ts";
import { jsonSchemaSchema } from "../../../src/shared/wire/tool.ts";

const toolSchema = z.looseObject({
  integration: z.string(),
  name: z.string(),
  description: z.string(),
  inputSchema: jsonSchemaSchema.default({}),
});

/** A catalogue of thousands of real tools, beside the repository where one was put; `SVC_CATALOG` names another place. */
const LARGE_CATALOGUE =
  process.env.SVC_CATALOG ?? fileURLToPath(new URL("../../../../shared/data/catalog.jsonl", import.meta.url));

/** True where the large catalogue is present. */
export const hasLargeCatalogue = existsSync(LARGE_CATALOGUE);

/** Reads it as integrations. `namesOf` maps our tool names to those of the file. */
export function readLargeCatalogue(): { integrations: Integration[]; nameOf: Map<string, string> } {
  const tools = readFileSync(LARGE_CATALOGUE, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => toolSchema.parse(JSON.parse(line)));
  const nameOf = new Map<string, string>();
  const integrations = Object.entries(Object.groupBy(tools, (tool) => tool.integration)).map(([slug, own = []]) =>
    createIntegration(
      slug,
      own.map(({ name, description, inputSchema }) => {
        const id = name.startsWith(`${slug}_`) ? name.slice(slug.length + 1) : name;
        nameOf.set(`${slug}_${id}`, name);
        return { ...createAction(id, description), inputSchema };
      }),
    ),
  );
  return { integrations, nameOf };
}

/** An integration that is only listed, never run. */
export function createIntegration(slug: string, actions: Action[]): Integration {
  const name = slug.replaceAll("-", " ");
  return { slug, name, description: "", category: "", scopes: [], actions, checkSettings: async () => {} };
}

/** An action that is only listed, never run. */
export function createAction(id: string, description: string): Action {
  return {
    id,
    title: "",
    description,
    level: "read",
    requiresConfirmation: false,
    idempotent: true,
    scopes: [],
    inputSchema: { type: "object", properties: {} },
    run: async () => null,
  };
}
