import { z } from "zod";
import type { SideEffectLevel } from "../../shared/wire/catalog.ts";
import { ServiceError } from "../service-error.ts";
import { type InputSchema, toInputSchema } from "./template-input.ts";

/** Input and results of a flow so far, as its steps see them. */
export interface FlowState<Input = unknown> {
  readonly flowId: string;
  /** When the flow was started, in milliseconds since the epoch. */
  readonly startedAt: number;
  readonly input: Input;
  /** Output of each completed step, by step key. */
  readonly outputs: Readonly<Record<string, unknown>>;
  /** Id of the connection that was chosen or the default when the flow started, by integration. */
  readonly connections: Readonly<Record<string, string | undefined>>;
}

/** One call of a step that may make several. */
export interface PlannedCall {
  /** Names the call within the step; stays the same in every attempt. */
  readonly key: string;
  /** Name for humans, in error messages. */
  readonly label: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The level that its approval showed, which it does not exceed. Default: that of its action. */
  readonly level?: SideEffectLevel | undefined;
  /** Position of what it is made of among the items that its approval showed, or kept. Default: it cannot be left out. */
  readonly item?: number | undefined;
  /** A read that tells whether an earlier try, whose outcome is unknown, took effect. */
  readonly find?: {
    readonly toolName: string;
    readonly arguments: Readonly<Record<string, unknown>>;
    /** The result the earlier try would have had; undefined when it took no effect. */
    pick(output: unknown): unknown;
  };
}

/** The calls of a `tool_call` step, all of one tool; made one after another. */
export interface PlannedCalls {
  readonly toolName: string;
  readonly connectionId?: string | undefined;
  readonly calls: readonly PlannedCall[];
  /** True where no approval covers the calls, also when there was one before. Default false. */
  readonly isUnapproved?: boolean;
  /** Output of the step, from the results so far in the order of `calls`. */
  collect(results: readonly unknown[]): unknown;
}

/** One step of a template. A write needs an approval step before it. */
export type StepDefinition<Input = unknown> = {
  readonly key: string;
  /** True when there is nothing to do; the step is `skipped`. */
  skip?(state: FlowState<Input>): boolean;
} & (
  | {
      readonly type: "tool_call";
      /** The integration whose account the calls use; one of the template's `connectionFields`. */
      readonly app: string;
      /** True where no call changes anything: an approval before it says nothing of it. Default false. */
      readonly isRead?: boolean;
      plan(state: FlowState<Input>): PlannedCalls;
    }
  | { readonly type: "transform"; run(state: FlowState<Input>): unknown }
  /** Data shown to the human before the decision; `message` describes the effect of an approval. */
  | {
      readonly type: "approval";
      show(state: FlowState<Input>): { message: string } & Record<string, unknown>;
      /**
       * The member of what is shown whose entries an approver may leave out. The steps that follow read the ones that
       * were kept from the output of this step.
       */
      readonly items?: string;
    }
  /** Until when to wait, and the time now, in milliseconds since the epoch. */
  | { readonly type: "wait"; until(state: FlowState<Input>, now: number): number }
);

/** A kind of flow ("Flow template"). */
export interface FlowTemplate {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  /** Integrations it acts on, each with the input field that may name a connection. */
  readonly connectionFields: Readonly<Record<string, string>>;
  /** Every tool that its steps may call. */
  readonly tools: readonly string[];
  readonly steps: readonly StepDefinition[];
  /** A template of the owner as its flows keep it: later changes of its file do not concern them. */
  readonly stored?: string;
  /** Its inputs, for callers and forms. */
  readonly inputSchema: InputSchema;
  /**
   * Checks the input of a new flow.
   *
   * @throws ServiceError 400, bare, naming the field.
   */
  readInput(input: unknown, now: number): Record<string, unknown>;
  /** The input of a flow, kept as it was sent, with its defaults: as steps see it. */
  parseInput(kept: unknown): Record<string, unknown>;
}

/** A template whose input is described once, in zod. */
interface TemplateDefinition<Schema extends z.ZodObject>
  extends Pick<FlowTemplate, "key" | "name" | "description" | "connectionFields" | "tools"> {
  readonly input: Schema;
  /** Further conditions; throws by {@link refuseInput}. */
  check?(input: z.output<Schema>, now: number): void;
  readonly steps: readonly StepDefinition<z.output<Schema>>[];
}

/** The optional connection id of a template's input; `app` is the name of the app for people. */
export function connectionIdOf(app: string) {
  return z
    .union([z.string().min(1), z.int()], { error: "must be the id of a connection" })
    .transform(String)
    .optional()
    .meta({ title: `${app} account`, description: "Left empty, it is the default account." });
}

/** The steps that the approval at `index` lets a flow take: those up to the next one. */
export function listFollowing({ steps }: Pick<FlowTemplate, "steps">, index: number): readonly StepDefinition[] {
  const after = steps.slice(index + 1);
  const next = after.findIndex(({ type }) => type === "approval");
  return next === -1 ? after : after.slice(0, next);
}

/** Builds a {@link FlowTemplate}. */
export function defineTemplate<Schema extends z.ZodObject>(definition: TemplateDefinition<Schema>): FlowTemplate {
  const { input, check, ...facts } = definition;
  let described: InputSchema | undefined;
  return {
    ...facts,
    get inputSchema() {
      described ??= toInputSchema(input);
      return described;
    },
    parseInput: (kept) => input.parse(kept),
    readInput(raw, now) {
      const parsed = input.safeParse(raw);
      if (!parsed.success) throw explainInput(parsed.error.issues, Object.keys(input.shape));
      check?.(parsed.data, now);
      return parsed.data;
    },
  };
}

/** The refusal of a flow's input: 400, bare. The problem names another field as `input.x`. */
export function refuseInput(field: string, problem: string): ServiceError {
  const extra = { field, problem } satisfies InputProblem;
  return new ServiceError(400, "invalid_flow_input", `\`input.${field}\` ${problem}.`, { bare: true, extra });
}

const inputProblemSchema = z.object({ field: z.string(), problem: z.string() });
type InputProblem = z.infer<typeof inputProblemSchema>;

/** The field and the problem of {@link refuseInput}; undefined for any other error. */
export function readInputProblem(error: unknown): InputProblem | undefined {
  if (!(error instanceof ServiceError) || error.code !== "invalid_flow_input") return undefined;
  return inputProblemSchema.safeParse(error.options.extra).data;
}

function explainInput(issues: readonly z.core.$ZodIssue[], fields: readonly string[]): ServiceError {
  const [issue] = issues;
  if (issue?.code === "unrecognized_keys") {
    return refuseInput(issue.keys[0] ?? "", `is not an input of this template; it takes: ${fields.join(", ")}`);
  }
  return refuseInput(issue?.path.join(".") ?? "", issue?.message ?? "is not valid");
}
