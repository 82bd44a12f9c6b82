import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { ActionContext, HeldFile, Integration } from "../../src/apps/port/integration.ts";
import { finishPreview } from "../../src/apps/port/preview.ts";
import type { KeptWrite } from "../../src/apps/port/undo.ts";
import { ServiceError } from "../../src/service/service-error.ts";
import { type Preview, previewSchema } from "../../src/shared/wire/preview.ts";

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
  /** State that whoever approved the calls saw; default: none. */
  readonly expectedState?: string;
  /** Aborts the calls; never, without it. */
  readonly signal?: AbortSignal;
}

/** Runs actions of one connection; results are typed loosely because they are JSON. */
export function createRunner(integration: Integration, options: RunnerOptions) {
  // biome-ignore lint/suspicious/noExplicitAny: results are JSON whose shape each test states
  return async (id: string, args: Record<string, unknown>, files = options.files ?? {}): Promise<any> => {
    const context = createContext(integration, options, files);
    return JSON.parse(JSON.stringify(await findAction(integration, id).run(args, context)));
  };
}

/** Previews actions of one connection, as the service would send it. */
export function createPreviewer(integration: Integration, options: RunnerOptions) {
  return async (id: string, args: Record<string, unknown>, files = options.files ?? {}): Promise<Preview> => {
    const context = createContext(integration, options, files);
    const draft = await findAction(integration, id).preview?.(args, context);
    if (draft === undefined) throw new Error(`no preview of ${id}`);
    return previewSchema.parse(JSON.parse(JSON.stringify(finishPreview(draft))));
  };
}

/** Runs writes of one connection as the service does, with what they keep. */
export function createKeeper(integration: Integration, options: RunnerOptions) {
  const look = () => createContext(integration, options, {});
  return {
    /** Runs a write; `kept` is undefined where it kept nothing. `onKept` runs after that, before the write acts. */
    async run(
      id: string,
      args: Record<string, unknown>,
      {
        files = options.files ?? {},
        onKept,
      }: { files?: Record<string, HeldFile>; onKept?: () => Promise<void> | void } = {},
    ) {
      let [intent, after]: [string | undefined, string | undefined] = [undefined, undefined];
      const context: ActionContext = {
        ...createContext(integration, options, files),
        async keep(value) {
          if (intent !== undefined) throw new Error(`${id} kept twice`);
          intent = JSON.stringify(value);
          await onKept?.();
        },
        leave(value) {
          after = JSON.stringify(value);
        },
      };
      const ran = await findAction(integration, id)
        .run(args, context)
        .then(
          (output) => ({ output: JSON.parse(JSON.stringify(output)) as Record<string, unknown> }),
          (error: unknown) => ({ error }),
        );
      const kept: KeptWrite | undefined =
        intent === undefined
          ? undefined
          : { intent: JSON.parse(intent), after: after === undefined ? undefined : JSON.parse(after) };
      return { ...ran, kept };
    },
    /** The plan to take a write back, with its draft as the service would send it. */
    async plan(id: string, kept: KeptWrite) {
      const plan = await findAction(integration, id).undo?.(kept, look());
      if (plan === undefined) throw new Error(`no undo of ${id}`);
      return { ...plan, preview: previewSchema.parse(JSON.parse(JSON.stringify(finishPreview(plan.draft)))) };
    },
    async settle(id: string, kept: KeptWrite) {
      return findAction(integration, id).settle?.(kept, look());
    },
  };
}

function findAction(integration: Integration, id: string) {
  const action = integration.actions.find((one) => one.id === id);
  if (action === undefined) throw new Error(`no action ${id}`);
  return action;
}

function createContext(
  integration: Integration,
  options: RunnerOptions,
  files: Record<string, HeldFile>,
): ActionContext {
  return {
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
    expectedState: options.expectedState,
    ...(options.keepFile === undefined ? {} : { keepFile: options.keepFile }),
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
