import type { z } from "zod";
import { isRecord } from "../../../shared/base/json.ts";
import { checkStrictly } from "../../../shared/schema-check/check-strictly.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import { needsConfirmation } from "../../catalog/catalog-entry.ts";
import type { InputSchema } from "../template-input.ts";
import { checkReferences, type DefinitionProblem } from "./check-references.ts";
import {
  type CheckedStep,
  type CheckedTemplate,
  definitionSchema,
  STEP_SCHEMAS,
  toAccountField,
} from "./definition.ts";

type Checked = { readonly template: CheckedTemplate } | { readonly problems: readonly DefinitionProblem[] };

/**
 * Checks a template: its form, its references, its tools with their arguments, and that an approval comes before every
 * write and shows all of it.
 */
export function checkDefinition(key: string, content: unknown, catalog: Pick<Catalog, "find">): Checked {
  const read = definitionSchema.safeParse(content);
  if (!read.success) return { problems: describeIssues(read.error.issues) };
  const { name, description, inputs, steps: raw } = read.data;
  const problems: DefinitionProblem[] = [];
  const known: Known = {
    inputs: Object.keys(inputs.properties),
    steps: [],
    approvals: [],
    report: (p) => problems.push(p),
  };
  const steps = raw.flatMap((step, index) => checkStep(step, { ...known, catalog, place: `steps[${index}]` }));
  problems.push(...checkInputs(inputs, steps), ...checkApprovals(steps));
  if (problems.length > 0) return { problems };
  return { template: { key, name, description, inputs: addAccounts(inputs, steps), steps } };
}

/** What a step may refer to. */
interface Known {
  readonly inputs: readonly string[];
  /** Keys of the steps before; grows. */
  readonly steps: string[];
  /** The approvals before, each with the number of steps before it; grows. */
  readonly approvals: { readonly key: string; readonly before: number }[];
  readonly report: (problem: DefinitionProblem) => void;
}
interface StepPlace extends Known {
  readonly catalog: Pick<Catalog, "find">;
  readonly place: string;
}

function checkStep(raw: unknown, o: StepPlace): CheckedStep[] {
  const { place, report } = o;
  const kind = (["call", "approve", "wait"] as const).find((one) => isRecord(raw) && Object.hasOwn(raw, one));
  if (kind === undefined) {
    report({ field: place, problem: "must have one of: call, approve, wait" });
    return [];
  }
  const read = STEP_SCHEMAS[kind].safeParse(raw);
  if (!read.success) {
    for (const { field, problem } of describeIssues(read.error.issues))
      report({ field: joinPlace(place, field), problem });
    return [];
  }
  const step = read.data;
  if (o.steps.includes(step.key))
    report({ field: `${place}.key`, problem: `"${step.key}" is the key of another step; choose another` });
  const checked = "call" in step ? checkCall(step, o) : "wait" in step ? checkWait(step, o) : checkApprove(step, o);
  o.steps.push(step.key);
  return checked;
}

function checkApprove(step: z.output<(typeof STEP_SCHEMAS)["approve"]>, o: StepPlace): CheckedStep[] {
  checkTexts(step.approve, `${o.place}.approve`, o, { steps: o.steps });
  o.approvals.push({ key: step.key, before: o.steps.length });
  return [{ type: "approve", key: step.key, message: step.approve }];
}

function checkWait({ key, wait }: z.output<(typeof STEP_SCHEMAS)["wait"]>, o: StepPlace): CheckedStep[] {
  checkTexts(wait, `${o.place}.wait`, o, { steps: o.steps });
  if ((wait.seconds === undefined) === (wait.until === undefined)) {
    o.report({ field: `${o.place}.wait`, problem: "must have either seconds or until" });
  }
  return [{ type: "wait", key, ...wait }];
}

function checkCall(step: z.output<(typeof STEP_SCHEMAS)["call"]>, o: StepPlace): CheckedStep[] {
  const { place, report } = o;
  const entry = o.catalog.find(step.call);
  if (entry === undefined) {
    report({
      field: `${place}.call`,
      problem: `names no tool of this service: "${step.call}"; see svc tools, or add its app`,
    });
    return [];
  }
  const { action, integration } = entry;
  const acts = action.level !== "read" || needsConfirmation(entry);
  const approval = acts ? o.approvals.at(-1) : undefined;
  if (acts && approval === undefined) {
    report({ field: place, problem: `${step.call} changes something; put a step with "approve" before it` });
  }
  // What an approval shows is all that a write is made of.
  const steps = acts ? o.steps.slice(0, approval?.before ?? 0) : o.steps;
  checkTexts(step.arguments, `${place}.arguments`, o, { steps, hasItem: step.each !== undefined, acts });
  if (step.each !== undefined) checkTexts(step.each, `${place}.each`, o, { steps, acts });
  checkArguments(step, { schema: action.inputSchema, place, report });
  const { key, call: tool, each } = step;
  const facts = { title: action.title, app: integration.slug, appName: integration.name, arguments: step.arguments };
  return [
    {
      type: "call",
      key,
      tool,
      ...facts,
      ...(approval && { approval: approval.key }),
      ...(each !== undefined && { each }),
    },
  ];
}

function checkArguments(
  { call, arguments: args }: z.output<(typeof STEP_SCHEMAS)["call"]>,
  { schema, place, report }: { schema: Readonly<Record<string, unknown>>; place: string; report: Known["report"] },
): void {
  const properties = isRecord(schema.properties) ? Object.keys(schema.properties) : [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  for (const name of Object.keys(args)) {
    if (properties.includes(name) || schema.additionalProperties !== false) continue;
    report({
      field: `${place}.arguments.${name}`,
      problem: `is no argument of ${call}; it takes: ${properties.join(", ")}`,
    });
  }
  for (const name of required.filter((one) => typeof one === "string" && !Object.hasOwn(args, one))) {
    report({ field: `${place}.arguments.${name}`, problem: `is missing: ${call} needs it` });
  }
}

function checkTexts(
  value: unknown,
  place: string,
  { inputs, steps: all, report }: Known,
  reach: { steps: readonly string[]; hasItem?: boolean; acts?: boolean },
): void {
  for (const problem of checkReferences(value, place, { ...reach, inputs, all })) report(problem);
}

function checkInputs(
  { properties, required = [] }: z.output<typeof definitionSchema>["inputs"],
  steps: readonly CheckedStep[],
): DefinitionProblem[] {
  const accounts = new Set(steps.flatMap((step) => (step.type === "call" ? [toAccountField(step.app)] : [])));
  const defaults = Object.entries(properties).filter(([, field]) => field.default !== undefined);
  const verdict = checkStrictly({ properties }, Object.fromEntries(defaults.map(([name, one]) => [name, one.default])));
  const misfits = verdict.kind === "invalid" ? verdict.problems : [];
  return [
    ...required
      .filter((name) => !Object.hasOwn(properties, name))
      .map((name) => ({ field: "inputs.required", problem: `names "${name}", which is no input` })),
    ...Object.keys(properties)
      .filter((name) => accounts.has(name))
      .map((name) => ({ field: `inputs.properties.${name}`, problem: "is there by itself; remove it" })),
    ...misfits.map(({ path, expected }) => ({
      field: `inputs.properties.${path}.default`,
      problem: `must be: ${expected}`,
    })),
  ];
}

function checkApprovals(steps: readonly CheckedStep[]): DefinitionProblem[] {
  const used = new Set(steps.flatMap((step) => (step.type === "call" ? (step.approval ?? []) : [])));
  return steps.flatMap((step, index) =>
    step.type === "approve" && !used.has(step.key)
      ? [
          {
            field: `steps[${index}]`,
            problem: "approves nothing; put the calls that it is about after it, or remove it",
          },
        ]
      : [],
  );
}

/** Each app has an input that chooses its account. */
function addAccounts(inputs: z.output<typeof definitionSchema>["inputs"], steps: readonly CheckedStep[]): InputSchema {
  const apps = steps.flatMap((step) => (step.type === "call" ? [[step.app, step.appName] as const] : []));
  const accounts = [...new Map(apps)].map(
    ([app, name]) =>
      [
        toAccountField(app),
        {
          type: "string" as const,
          title: `${name} account`.slice(0, 80),
          description: "Left empty, it is the default account.",
        },
      ] as const,
  );
  return {
    ...inputs,
    properties: { ...inputs.properties, ...Object.fromEntries(accounts) },
    additionalProperties: false,
  };
}

function describeIssues(issues: readonly z.core.$ZodIssue[]): DefinitionProblem[] {
  return issues.flatMap((issue) => {
    const field = issue.path
      .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
      .join("")
      .replace(/^\./, "");
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({ field: joinPlace(field, key), problem: "is not known here; remove it" }));
    }
    if (issue.code === "invalid_key") return [{ field, problem: issue.issues[0]?.message ?? "is not a name" }];
    return [{ field, problem: describeIssue(issue) }];
  });
}

function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code !== "invalid_type") return issue.message.replace(/^Invalid input: expected/, "must be:");
  const isMissing = issue.message.endsWith("received undefined");
  return isMissing ? `is missing; it must be: ${issue.expected}` : `must be: ${issue.expected}`;
}

function joinPlace(place: string, field: string): string {
  if (field === "" || place === "") return `${place}${field}`;
  return field.startsWith("[") ? `${place}${field}` : `${place}.${field}`;
}
