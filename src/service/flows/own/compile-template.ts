import { z } from "zod";
import { isRecord } from "../../../shared/base/json.ts";
import { shortenText } from "../../../shared/base/text.ts";
import { checkStrictly } from "../../../shared/schema-check/check-strictly.ts";
import { SIDE_EFFECT_LEVELS } from "../../../shared/wire/catalog.ts";
import { ServiceError } from "../../service-error.ts";
import { listNames } from "../describe-wait.ts";
import {
  type FlowState,
  type FlowTemplate,
  type PlannedCall,
  refuseInput,
  type StepDefinition,
} from "../flow-template.ts";
import type { InputSchema } from "../template-input.ts";
import { type CallStep, type CheckedTemplate, MAX_SECONDS, toAccountField } from "./definition.ts";
import { fill, fillText, type Scope } from "./references.ts";

/** Most calls of one step. */
const MAX_CALLS = 100;
/** Longest sentence of an approval, and name of one of its calls, in characters. */
const MAX_MESSAGE = 1000;
const MAX_TITLE = 120;

/** The steps of a template before them, and their outputs; inputs are checked when a flow is started. */
type State = FlowState;

/** Makes a template of one that was checked. */
export function compileTemplate(checked: CheckedTemplate): FlowTemplate {
  const { key, name, description, inputs, steps } = checked;
  const calls = steps.filter((step) => step.type === "call");
  const defaults = Object.entries(inputs.properties).flatMap(([field, { default: value }]) =>
    value === undefined ? [] : [[field, value] as const],
  );
  return {
    key,
    name,
    description,
    connectionFields: Object.fromEntries(calls.map(({ app }) => [app, toAccountField(app)])),
    tools: [...new Set(calls.map(({ tool }) => tool))],
    inputSchema: inputs,
    stored: JSON.stringify(checked),
    steps: steps.map((step, index): StepDefinition => {
      if (step.type === "call") return compileCall(step);
      const before = steps.slice(0, index).findLast((one) => one.type === "approve");
      if (step.type === "approve")
        return compileApproval(
          step,
          calls.filter(({ approval }) => approval === step.key),
        );
      return compileWait(step, before?.key);
    }),
    readInput: (raw) => checkInput(inputs, raw),
    parseInput: (kept) => ({ ...Object.fromEntries(defaults), ...(isRecord(kept) ? kept : {}) }),
  };
}

function checkInput(schema: InputSchema, raw: unknown): Record<string, unknown> {
  const input = isRecord(raw) ? raw : {};
  const known = Object.keys(schema.properties);
  const other = Object.keys(input).find((name) => !known.includes(name));
  if (other !== undefined) {
    throw refuseInput(other, `is not an input of this template; it takes: ${known.join(", ") || "none"}`);
  }
  const verdict = checkStrictly(schema, input);
  if (verdict.kind === "valid") return input;
  if (verdict.kind === "unchecked") throw refuseInput(verdict.field, verdict.why);
  const [first] = verdict.problems;
  throw refuseInput(first?.path ?? "", first?.isMissing ? "is required" : `must be: ${first?.expected}`);
}

function toScope({ input, outputs }: State): Scope {
  return { inputs: input, steps: outputs };
}

/** A call as its approval shows it, and as it is made then. */
export const shownCallSchema = z.object({
  title: z.string(),
  tool: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  step: z.string(),
  key: z.string(),
  /** The level of the call, and what it does beyond its action; see `showLevels`. */
  level: z.enum(SIDE_EFFECT_LEVELS).optional(),
  does: z.string().optional(),
});
export type ShownCall = z.infer<typeof shownCallSchema>;
const approvedSchema = z.looseObject({ calls: z.array(shownCallSchema) });

/** The calls that a step is going to make; its references are replaced. */
function planCalls(step: CallStep, state: State): ShownCall[] {
  const scope = toScope(state);
  const items = step.each === undefined ? [undefined] : readList(step, fill(step.each, scope));
  return items.map((item, index) => {
    const filled = fill(step.arguments, { ...scope, item });
    const args = isRecord(filled) ? filled : {};
    const [name] = Object.values(args).flatMap(listNames);
    const title = name === undefined ? step.title : `${step.title}: ${shortenText(name, MAX_TITLE)}`;
    return { title, tool: step.tool, arguments: args, step: step.key, key: String(index + 1).padStart(3, "0") };
  });
}

function readList({ key, each }: CallStep, list: unknown): readonly unknown[] {
  if (!Array.isArray(list)) throw refuseStep(key, `${each} is no list. Correct the template.`);
  if (list.length > MAX_CALLS) {
    throw refuseStep(key, `${each} has ${list.length} entries, and a step makes at most ${MAX_CALLS} calls.`);
  }
  return list;
}

function compileCall(step: CallStep): StepDefinition {
  const isEach = step.each !== undefined;
  // A write is what its approval showed, without what was left out.
  const list = (state: State): readonly (ShownCall & Pick<PlannedCall, "item">)[] =>
    step.approval === undefined ? planCalls(step, state) : readApproved(step, state.outputs[step.approval]);
  return {
    key: step.key,
    type: "tool_call",
    app: step.app,
    isRead: step.approval === undefined,
    ...(step.approval !== undefined && { skip: (state: State) => list(state).length === 0 }),
    plan: (state) => ({
      toolName: step.tool,
      connectionId: state.connections[step.app],
      isUnapproved: step.approval === undefined,
      calls: list(state).map(
        ({ key, title, arguments: args, level, item }): PlannedCall => ({
          key,
          item,
          label: `"${title}"`,
          arguments: args,
          level,
        }),
      ),
      collect: (results) => (isEach ? results : (results[0] ?? null)),
    }),
  };
}

/** With their positions among all that were approved. */
function readApproved({ key }: CallStep, output: unknown): (ShownCall & { readonly item: number })[] {
  // Where there was nothing to approve, there is no output.
  if (output === undefined) return [];
  const { calls } = approvedSchema.parse(output);
  return calls.flatMap((call, item) => (call.step === key ? [{ ...call, item }] : []));
}

function compileApproval(
  { key, message }: { key: string; message: string },
  writes: readonly CallStep[],
): StepDefinition {
  const list = (state: State) => writes.flatMap((step) => planCalls(step, state));
  return {
    key,
    type: "approval",
    items: "calls",
    skip: (state) => list(state).length === 0,
    show: (state) => ({ message: shortenText(fillText(message, toScope(state)), MAX_MESSAGE), calls: list(state) }),
  };
}

function compileWait(
  { key, seconds, until }: { key: string; seconds?: number | string | undefined; until?: string | undefined },
  approval: string | undefined,
): StepDefinition {
  return {
    key,
    type: "wait",
    // There was nothing to approve, so there is nothing to wait for.
    skip: ({ outputs }) => approval !== undefined && outputs[approval] === undefined,
    until(state, now) {
      const value = fill(seconds ?? until, toScope(state));
      const due = seconds === undefined ? Date.parse(String(value)) : now + Number(value) * 1000;
      if (Number.isNaN(due))
        throw refuseStep(key, `${seconds ?? until} is ${seconds === undefined ? "no time" : "no number of seconds"}.`);
      if (due > now + MAX_SECONDS * 1000) throw refuseStep(key, "the wait would be longer than a year.");
      return due;
    },
  };
}

function refuseStep(key: string, problem: string): ServiceError {
  return new ServiceError(422, "flow_step_impossible", `The step "${key}" cannot run: ${problem}`);
}
