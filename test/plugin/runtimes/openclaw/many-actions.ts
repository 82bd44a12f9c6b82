import type { Action, Integration } from "../../../../src/apps/port/integration.ts";
import type { JsonSchema } from "../../../../src/shared/wire/tool.ts";

/** What one call reached an app with. */
interface ManyCall {
  readonly action: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** An app with as many actions as a test wants; it records what reaches it. */
export interface ManyApp {
  readonly integration: Integration;
  readonly calls: ManyCall[];
}

/** Facts by which an action differs from the usual one: a read of `text`, `count`, `mode` and `tags`, nothing else. */
export type ActionFacts = Partial<Action> & { readonly properties?: JsonSchema; readonly required?: string[] };

/** An app of these actions, every one a read unless its facts say otherwise. */
export function createManyApp(slug: string, actions: readonly (ActionFacts & { readonly id: string })[]): ManyApp {
  const calls: ManyCall[] = [];
  const integration: Integration = {
    slug,
    name: slug,
    description: `The app ${slug}.`,
    category: "test",
    scopes: [],
    actions: actions.map((facts) => createAction(facts, calls)),
    checkSettings: async () => {},
  };
  return { integration, calls };
}

/** `count` reads and writes in turn, `act_0`, `act_1`, … */
export function createNumberedActions(count: number): (ActionFacts & { readonly id: string })[] {
  return Array.from({ length: count }, (_, index) =>
    index % 3 === 2
      ? { id: `act_${index}`, level: "write" as const, requiresConfirmation: true }
      : { id: `act_${index}` },
  );
}

function createAction({ properties, required, ...facts }: ActionFacts & { id: string }, calls: ManyCall[]): Action {
  return {
    title: `Action ${facts.id}`,
    description: `Does what ${facts.id} does, for tests.`,
    level: "read",
    requiresConfirmation: false,
    idempotent: false,
    scopes: [],
    inputSchema: {
      type: "object",
      properties: properties ?? {
        text: { type: "string", description: "What to write." },
        count: { type: "integer", minimum: 0 },
        mode: { type: "string", enum: ["fast", "slow"] },
        tags: { type: "array", items: { type: "string" } },
      },
      required: required ?? ["text"],
      additionalProperties: false,
    },
    run: async (args) => {
      calls.push({ action: facts.id, args });
      return { action: facts.id, args };
    },
    ...facts,
  };
}
