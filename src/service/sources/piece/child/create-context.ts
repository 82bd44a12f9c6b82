/** A piece asked for something that only a full flow engine has. */
export class Unsupported extends Error {
  override readonly name = "Unsupported";
}

/** What a context is made of. */
interface ContextParts {
  readonly auth: unknown;
  readonly propsValue: Readonly<Record<string, unknown>>;
  /** Keeps bytes as a file and returns the text that stands for it. */
  keep(file: { fileName: string; data: Uint8Array }): Promise<string>;
}

const NOTHING_RUNS = "Waiting for a human or for another event is not possible here.";

/** What a piece's code is given: its own secret, its arguments, a place for files, and a store that lasts one call. */
export function createContext({ auth, propsValue, keep }: ContextParts): Record<string, unknown> {
  const kept = new Map<string, unknown>();
  const pause = () => {
    throw new Unsupported(NOTHING_RUNS);
  };
  return {
    auth,
    propsValue,
    executionType: "BEGIN",
    files: { write: keep },
    store: {
      get: async (key: string) => kept.get(key) ?? null,
      put: async (key: string, value: unknown) => {
        kept.set(key, value);
        return value;
      },
      delete: async (key: string) => void kept.delete(key),
    },
    connections: { get: async () => null },
    tags: { add: async () => {} },
    output: { update: async () => {} },
    server: { apiUrl: "", publicUrl: "", token: "" },
    project: { id: "svc", externalId: async () => undefined },
    flows: {
      list: async () => ({ data: [], next: null, previous: null }),
      current: { id: "svc", version: { id: "svc" } },
    },
    step: { name: "call" },
    run: {
      id: "svc",
      isTest: false,
      stop: () => {},
      respond: () => {},
      pause,
      createWaitpoint: async () => pause(),
      waitForWaitpoint: pause,
    },
    generateResumeUrl: pause,
  };
}
