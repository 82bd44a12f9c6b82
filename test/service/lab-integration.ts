import type { Action, Integration } from "../../src/apps/port/integration.ts";
import { ServiceError } from "../../src/service/service-error.ts";

/** An app for tests: it does what it is told, also badly. */
export interface Lab {
  readonly integration: Integration;
  /** Ids of the actions that ran, in order. */
  readonly ran: string[];
  /** Lets the next `lab_wait` finish. */
  release(): void;
  /** Resolves when `lab_wait` has begun. */
  readonly waiting: Promise<void>;
}

const FAULTS: Readonly<Record<string, () => Promise<unknown>>> = {
  rate: async () => {
    throw new ServiceError(429, "rate_limit", "Too many calls.", {
      type: "rate_limit",
      retryable: true,
      retryAfterSeconds: 7,
    });
  },
  rate_without_time: async () => {
    throw new ServiceError(429, "rate_limit", "Too many calls.", { type: "rate_limit", retryable: true });
  },
  down: async () => {
    throw new ServiceError(503, "provider_unavailable", "The provider is down.", { type: "network", retryable: true });
  },
  setup: async () => {
    throw new ServiceError(422, "integration_misconfigured", "`folder` is missing.", { type: "configuration" });
  },
  gone: async () => {
    throw new ServiceError(404, "not_found", "There is no such thing.", { type: "provider" });
  },
  revoked: async () => {
    throw new ServiceError(401, "provider_refused", "The provider refused the sign-in.", { type: "auth" });
  },
  too_large: async () => {
    throw new ServiceError(413, "message_too_large", "The message is too large.", { type: "provider" });
  },
  crash: async () => {
    throw new Error("secret inside /home/somebody/key.pem");
  },
  nothing: async () => undefined,
  hang: () => new Promise(() => {}),
};

const base = { requiresConfirmation: false, idempotent: true, scopes: [] as string[] };
const object = (properties: Record<string, unknown>, required: string[] = []) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

/** Creates the app; connect it with any settings. */
export function createLab(): Lab {
  const ran: string[] = [];
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const track = (action: Action): Action => ({
    ...action,
    run(args, context) {
      ran.push(action.id);
      return action.run(args, context);
    },
  });
  const actions: Action[] = [
    {
      ...base,
      id: "look",
      title: "Look",
      description: "Shows what it was asked.",
      level: "read",
      inputSchema: object({
        text: { type: "string", minLength: 2 },
        count: { type: "integer", minimum: 1, maximum: 10 },
        kind: { enum: ["a", "b"] },
        list: { type: "array", items: object({ id: { type: "string" } }, ["id"]) },
      }),
      run: async (args, { connection }) => ({ args, connection: connection.label }),
    },
    {
      ...base,
      id: "put",
      title: "Put",
      description: "Stores a thing.",
      level: "write",
      requiresConfirmation: true,
      scopes: ["lab.write"],
      askBefore: ["Where does it go?"],
      inputSchema: object(
        {
          title: { type: "string" },
          file: { type: "object", file_uploadable: true, properties: {}, additionalProperties: false },
        },
        ["title"],
      ),
      run: async (args, { file }) => {
        const key = (args.file as { s3key: string } | undefined)?.s3key;
        return { stored: args.title, file: key === undefined ? null : file(key).sha256 };
      },
    },
    {
      ...base,
      id: "fail",
      title: "Fail",
      description: "Fails in a chosen way.",
      level: "read",
      inputSchema: object({ how: { type: "string" } }, ["how"]),
      run: async ({ how }) => FAULTS[String(how)]?.() ?? null,
    },
    {
      ...base,
      id: "wait",
      title: "Wait",
      description: "A slow write.",
      level: "write",
      requiresConfirmation: true,
      inputSchema: object({}),
      run: async (_args, { signal }) => {
        begun.resolve();
        await released.promise;
        return { aborted: signal.aborted };
      },
    },
  ];
  return {
    ran,
    release: released.resolve,
    waiting: begun.promise,
    integration: {
      slug: "lab",
      name: "Lab",
      description: "Things for tests.",
      category: "tests",
      scopes: ["lab.read", "lab.write"],
      actions: actions.map(track),
      async checkSettings(settings) {
        if (settings.broken === true) {
          throw new ServiceError(422, "integration_misconfigured", "`broken` must not be true.", {
            type: "configuration",
            hint: "Correct the setting.",
          });
        }
      },
    },
  };
}
