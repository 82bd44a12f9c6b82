import type { Integration } from "../../src/apps/port/integration.ts";
import type { AuthoredPart } from "../../src/shared/seen/evidence.ts";
import { createRunner, NOW, type RunnerOptions } from "./run-action.ts";

/** Runs actions of one connection, and says whose their results are. */
export function createTeller(integration: Integration, options: RunnerOptions) {
  const run = createRunner(integration, options);
  const connection = toConnection(integration, options);
  return async (id: string, args: Record<string, unknown>): Promise<readonly AuthoredPart[]> => {
    const action = integration.actions.find((one) => one.id === id);
    if (action?.authored === undefined) throw new Error(`${id} does not tell`);
    return action.authored(await run(id, args), args, { connection });
  };
}

/** All that an app tells of the owner's own data; `most` parts, after which the caller stops. */
export async function listOwn(integration: Integration, options: RunnerOptions, most = Number.POSITIVE_INFINITY) {
  const parts: AuthoredPart[] = [];
  const context = {
    connection: toConnection(integration, options),
    signal: options.signal ?? new AbortController().signal,
    now: options.now ?? (() => NOW),
  };
  for await (const part of integration.ownValues?.(context) ?? []) if (parts.push(part) >= most) break;
  return parts;
}

/** The contents of the parts that are somebody's or the owner's, as one text. */
export function textOf(parts: readonly AuthoredPart[], whose: AuthoredPart["source"]["whose"]): string {
  return parts
    .filter(({ source }) => source.whose === whose)
    .map(({ content }) => JSON.stringify(content))
    .join("\n");
}

function toConnection({ slug, scopes }: Integration, { settings }: RunnerOptions) {
  return { id: "1", integration: slug, label: "Test", settings, scopes };
}
