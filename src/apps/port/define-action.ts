import { z } from "zod";
import { ServiceError } from "../../service/service-error.ts";
import type { RaisedLevel } from "../../shared/wire/call-level.ts";
import { FILE_UPLOADABLE_KEYWORD } from "../../shared/wire/file.ts";
import { type JsonSchema, jsonSchemaSchema } from "../../shared/wire/tool.ts";
import type { Action, ActionContext, JudgeContext, PreviewContext } from "./integration.ts";
import type { PreviewDraft } from "./preview.ts";
import type { KeptWrite, UndoPlan, Verdict } from "./undo.ts";

/** An action whose arguments are described once, in zod. */
export interface ActionDefinition<Arguments extends z.ZodObject>
  extends Omit<Action, "inputSchema" | "run" | "judge" | "preview"> {
  /** A strict object; descriptions, defaults and examples go into the published schema. */
  readonly arguments: Arguments;
  run(args: z.output<Arguments>, context: ActionContext): Promise<unknown>;
  judge?: ((args: z.output<Arguments>, context: JudgeContext) => Promise<RaisedLevel | undefined>) | undefined;
  preview?: ((args: z.output<Arguments>, context: PreviewContext) => Promise<PreviewDraft | undefined>) | undefined;
}

/**
 * Builds an {@link Action}: publishes the JSON Schema (2020-12), which is made when it is first looked at, and parses the
 * arguments again, which fills in defaults.
 */
export function defineAction<Arguments extends z.ZodObject>(definition: ActionDefinition<Arguments>): Action {
  const { arguments: schema, run, judge, preview, ...facts } = definition;
  let published: JsonSchema | undefined;
  const parse = (args: unknown) => {
    const parsed = schema.safeParse(args);
    if (parsed.success) return parsed.data;
    const details = parsed.error.issues.map(({ path, message }) => `arguments.${path.join(".")}: ${message}`);
    throw new ServiceError(400, "invalid_arguments", details[0] ?? "The arguments are not valid.", {
      type: "validation",
      details,
    });
  };
  return {
    ...facts,
    get inputSchema() {
      published ??= jsonSchemaSchema.parse(z.toJSONSchema(schema, { io: "input", target: "draft-2020-12" }));
      return published;
    },
    run: async (args, context) => run(parse(args), context),
    ...(judge && { judge: async (args: unknown, context: JudgeContext) => judge(parse(args), context) }),
    ...(preview && { preview: async (args: unknown, context: PreviewContext) => preview(parse(args), context) }),
  };
}

/** The document's "File-uploadable object", marked for callers that upload local files by themselves. */
export function describeFile(description: string) {
  return z
    .looseObject({
      name: z.string().min(1).max(255).describe("File name with extension."),
      mimetype: z.string().min(3).max(255).describe("MIME type, for example application/pdf."),
      s3key: z
        .string()
        .min(1)
        .describe(
          "A public https URL of the file, the storage key of an earlier upload, the text that files[].pointer repeats, or a local path the caller uploads.",
        ),
    })
    .meta({ description, [FILE_UPLOADABLE_KEYWORD]: true });
}

const READ = { level: "read", idempotent: true } as const;

function refuseFile(): never {
  throw new TypeError("There are no files before a call runs.");
}

type Planned = "run" | "judge" | "preview" | "undo" | "settle";

/** `undo` and `settle` of an action, once it is known how its place is opened; made by {@link createKeeps}. */
export type Keeps<Place> = (open: (context: JudgeContext) => Promise<Place>) => Pick<Action, "undo" | "settle">;

/**
 * Describes how a write is taken back and looked for. What it has kept is parsed by `intent` and `after`, since another version
 * may have written it.
 */
export function createKeeps<Place, Intent extends z.ZodType, After extends z.ZodType>(o: {
  readonly intent: Intent;
  readonly after: After;
  /** See {@link Action.undo}; the place may be written to by the plan's `act` alone. */
  undo?(kept: KeptWrite<z.output<Intent>, z.output<After>>, place: Place, context: JudgeContext): Promise<UndoPlan>;
  /** See {@link Action.settle}. */
  settle?(kept: KeptWrite<z.output<Intent>, z.output<After>>, place: Place, context: JudgeContext): Promise<Verdict>;
}): Keeps<Place> {
  const { undo, settle } = o;
  const read = ({ intent, after }: KeptWrite) => ({
    intent: o.intent.parse(intent),
    after: after === undefined ? undefined : o.after.parse(after),
  });
  return (open) => ({
    ...(undo && { undo: async (kept, context) => undo(read(kept), await open(context), context) }),
    ...(settle && { settle: async (kept, context) => settle(read(kept), await open(context), context) }),
  });
}

/** An action that still has to be told how the place it runs on is opened. */
export type PlaceAction<Place> = (
  open: (context: ActionContext, action: Pick<Action, "level" | "idempotent">) => Promise<Place>,
) => Action;

/**
 * Creates the definer of the actions of one app, which run on a place such as a mailbox that is opened for each call.
 * Reads need no confirmation and may be repeated; every other action asks first, and may be repeated where it says so.
 */
export function createActionDefiner<Place>() {
  return <Arguments extends z.ZodObject>({
    run,
    judge,
    preview,
    keeps,
    ...own
  }: Omit<ActionDefinition<Arguments>, Planned | "requiresConfirmation" | "idempotent"> & {
    /** Default true for a read, false for every other action. */
    readonly idempotent?: boolean;
    run(args: z.output<Arguments>, place: Place, context: ActionContext): Promise<unknown>;
    /** Only reads from the place; see {@link Action.judge}. */
    judge?(args: z.output<Arguments>, place: Place, context: JudgeContext): Promise<RaisedLevel | undefined>;
    /** Only reads from the place; see {@link Action.preview}. */
    preview?(args: z.output<Arguments>, place: Place, context: PreviewContext): Promise<PreviewDraft | undefined>;
    /** For a write that can be taken back or looked for. */
    readonly keeps?: Keeps<Place>;
  }): PlaceAction<Place> => {
    const isRead = own.level === "read";
    const facts = { requiresConfirmation: !isRead, idempotent: isRead, ...own };
    return (open) => {
      const look = (context: JudgeContext) => open({ ...context, file: refuseFile }, READ);
      return defineAction<Arguments>({
        ...facts,
        run: async (args, context) => run(args, await open(context, facts), context),
        judge: judge && (async (args, context) => judge(args, await look(context), context)),
        preview: preview && (async (args, context) => preview(args, await look(context), context)),
        ...keeps?.(async (context) => open({ ...context, file: refuseFile }, facts)),
      });
    };
  };
}
