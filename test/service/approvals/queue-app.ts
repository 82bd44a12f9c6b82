import type { Action, Integration } from "../../../src/apps/port/integration.ts";
import { ServiceError } from "../../../src/service/service-error.ts";

/** One try of a call, as an app saw it. */
interface Seen {
  readonly account: string;
  readonly title: string;
}

/** An app for tests of the order: it notes what begins and ends, and fails where the title says so. */
export interface QueueApp {
  readonly integration: Integration;
  /** Calls in the order in which they began. */
  readonly began: Seen[];
  /** Most calls that were at work at one time: on one account, and on all. */
  readonly most: { account: number; all: number };
  /** From now on, calls begin and do not end before `release`. */
  hold(): void;
  release(): void;
}

/** Creates the app. `queue_step` ends well, with an error (`fail …`), or so that nobody knows (`lost …`). */
export function createQueueApp(): QueueApp {
  const began: Seen[] = [];
  const most = { account: 0, all: 0 };
  const atWork = new Map<string, number>();
  let gate = Promise.resolve();
  let open = () => {};

  async function step(title: string, account: string): Promise<unknown> {
    began.push({ account, title });
    atWork.set(account, (atWork.get(account) ?? 0) + 1);
    most.account = Math.max(most.account, ...atWork.values());
    most.all = Math.max(
      most.all,
      [...atWork.values()].reduce((sum, count) => sum + count, 0),
    );
    try {
      await gate;
      // Whoever may begin beside it gets the time to.
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
      if (title.startsWith("fail")) throw new ServiceError(404, "not_found", "There is no such thing.");
      if (title.startsWith("lost")) throw new Error("cut");
      return { title };
    } finally {
      atWork.set(account, (atWork.get(account) ?? 1) - 1);
    }
  }

  const action: Action = {
    id: "step",
    title: "Step",
    description: "Takes a step.",
    level: "write",
    requiresConfirmation: true,
    idempotent: false,
    scopes: [],
    inputSchema: {
      type: "object",
      properties: { title: { type: "string" }, count: { type: "integer", minimum: 1 } },
      required: ["title"],
      additionalProperties: false,
    },
    run: (args, { connection }) => step(String(args.title), connection.label),
  };
  return {
    began,
    most,
    hold() {
      ({ promise: gate, resolve: open } = Promise.withResolvers<void>());
    },
    release: () => open(),
    integration: {
      slug: "queue",
      name: "Queue",
      description: "Steps for tests.",
      category: "tests",
      scopes: [],
      actions: [action],
      async checkSettings() {},
    },
  };
}
