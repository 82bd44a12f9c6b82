import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { ActionContext, HeldFile, Integration } from "../../../src/service/integrations/integration.ts";
import { ServiceError } from "../../../src/service/service-error.ts";

/** A moment that tests can recognise in results. */
export const NOW = Date.UTC(2026, 10, 20, 9, 30, 0);

/** A file as the service would hold it for a call. */
export function holdFile(name: string, mimetype: string, content: string | Uint8Array): HeldFile {
  const bytes = Buffer.from(content);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { name, mimetype, size: bytes.length, sha256, open: () => Readable.from([Buffer.from(bytes)]) };
}

/** What {@link createRunner} runs actions with. */
export interface RunnerOptions {
  readonly settings: Record<string, unknown>;
  readonly scopes?: readonly string[];
  readonly files?: Record<string, HeldFile>;
  readonly now?: () => number;
  readonly keepFile?: ActionContext["keepFile"];
  /** Aborts the calls; never, without it. */
  readonly signal?: AbortSignal;
}

/** Runs actions of one connection; results are typed loosely because they are JSON. */
export function createRunner(integration: Integration, options: RunnerOptions) {
  // biome-ignore lint/suspicious/noExplicitAny: results are JSON whose shape each test states
  return async (id: string, args: Record<string, unknown>, files = options.files ?? {}): Promise<any> => {
    const action = integration.actions.find((one) => one.id === id);
    if (action === undefined) throw new Error(`no action ${id}`);
    const context: ActionContext = {
      connection: {
        id: "1",
        integration: integration.slug,
        label: "Test",
        settings: options.settings,
        scopes: options.scopes ?? integration.scopes,
      },
      file: (key) => files[key] ?? fail(key),
      signal: options.signal ?? new AbortController().signal,
      now: options.now ?? (() => NOW),
      ...(options.keepFile === undefined ? {} : { keepFile: options.keepFile }),
    };
    return JSON.parse(JSON.stringify(await action.run(args, context)));
  };
}

function fail(key: string): never {
  throw new Error(`no file ${key}`);
}

/** The ServiceError that `promise` rejects with. */
export async function refusal(promise: Promise<unknown>): Promise<ServiceError> {
  const error = await promise.then(
    () => new Error("it succeeded"),
    (reason: unknown) => reason,
  );
  if (error instanceof ServiceError) return error;
  throw error;
}
