import { toLocalTime } from "../plugin/runtimes/terminal/show-card.ts";
import { isRecord } from "../shared/base/json.ts";
import { describeStarter } from "../shared/card/flow-starter.ts";
import { toPlainText } from "../shared/card/plain-text.ts";
import type { Flow, FlowStep, FlowTemplate, FlowView } from "../shared/wire/flow.ts";
import { type Terminal, wrapWords } from "./terminal.ts";

const MARKS: Readonly<Record<string, string>> = {
  pending: "·",
  running: "…",
  waiting: "?",
  completed: "✓",
  failed: "✗",
  skipped: "-",
};

/**
 * Shows a flow while it runs: call the result with each view. On a terminal the steps are redrawn in place; elsewhere each change of a step is a line of its own, so that a log
 * stays readable. Nothing is drawn with `--json`.
 */
export function createFlowScreen(terminal: Terminal, output: Pick<NodeJS.WriteStream, "write">) {
  const seen = new Map<string, string>();
  let drawn = 0;
  return (view: FlowView): void => {
    if (terminal.json) return;
    if (terminal.interactive) {
      const lines = [formatTitle(terminal, view), ...view.steps.map((step) => formatStep(terminal, step))];
      output.write(`${drawn === 0 ? "" : `\u001b[${drawn}A\u001b[J`}${lines.join("\n")}\n`);
      drawn = lines.length;
      return;
    }
    if (seen.size === 0) terminal.say(formatTitle(terminal, view));
    for (const step of view.steps) {
      const state = `${step.status} ${step.attemptCount ?? 0}`;
      if (seen.get(step.stepKey) !== state && step.status !== "pending") terminal.say(formatStep(terminal, step));
      seen.set(step.stepKey, state);
    }
  };
}

function formatTitle(terminal: Terminal, { flow }: FlowView): string {
  return terminal.style("bold", `${clean(flow.name ?? flow.templateKey ?? "Flow")} (${flow.id})`);
}

function formatStep(terminal: Terminal, step: FlowStep): string {
  const mark = MARKS[step.status] ?? " ";
  const color = { completed: "green", failed: "red", waiting: "yellow", running: "cyan" } as const;
  const style = Object.entries(color).find(([status]) => status === step.status)?.[1] ?? "dim";
  const attempts = (step.attemptCount ?? 0) > 1 ? `, attempt ${step.attemptCount}` : "";
  const problem = step.status === "completed" ? "" : describeError(step.error);
  return `  ${terminal.style(style, mark)} ${clean(step.stepKey).padEnd(26)} ${clean(step.status)}${attempts}${problem}`;
}

function describeError(error: unknown): string {
  const message = isRecord(error) ? error.message : error;
  return typeof message === "string" ? `: ${clean(message, 200)}` : "";
}

/** One paragraph per template, with its inputs. */
export function formatTemplates(terminal: Terminal, templates: readonly FlowTemplate[]): string {
  if (templates.length === 0) return "This service has no flow templates.";
  return templates
    .map(({ key, name, description, inputSchema }) =>
      [
        `${terminal.style("bold", clean(key))}  ${clean(name ?? "")}`,
        wrapWords(`  ${clean(description ?? "", 600)}`, terminal.columns, "  "),
        ...listInputs(inputSchema).map((line) => wrapWords(`    ${line}`, terminal.columns, "      ")),
      ].join("\n"),
    )
    .join("\n");
}

/** One line per input: its name, whether it is required, what it means and its default. */
function listInputs(schema: FlowTemplate["inputSchema"]): string[] {
  const required = Array.isArray(schema?.required) ? schema.required : [];
  const fields = isRecord(schema?.properties) ? Object.entries(schema.properties) : [];
  return fields.map(([name, field]) => {
    const { title, description, type, format = type, default: byDefault } = isRecord(field) ? field : {};
    const facts = [
      required.includes(name) && "required",
      typeof format === "string" && clean(format),
      byDefault !== undefined && `default ${clean(JSON.stringify(byDefault))}`,
    ];
    const text = [title, description].flatMap((one) => (typeof one === "string" ? clean(one, 300) : []));
    const known = facts.filter(Boolean).join(", ");
    return [`${clean(name)}${known && ` (${known})`}`, ...text].join("  ");
  });
}

/** One line per flow, and below one that waits what it waits for. */
export function formatFlowList(flows: readonly Flow[]): string {
  if (flows.length === 0) return 'No flow yet. Next: "svc flows templates" shows what can be started.';
  return flows
    .map((flow) => {
      const { id, status, name, templateKey, createdAt, waitingFor } = flow;
      const time = createdAt ? toLocalTime(createdAt) : "";
      const line = [
        clean(id),
        clean(status).padEnd(9),
        time,
        clean(name ?? templateKey ?? ""),
        clean(describeStarter(flow)),
      ].join("  ");
      if (waitingFor === undefined) return line;
      const { message, about, since } = waitingFor;
      const asked = since === "" ? "" : ` Since ${toLocalTime(since)}.`;
      return [line, `${clean(message, 200)}${asked}`, clean(about, 200)].filter(Boolean).join("\n    ");
    })
    .join("\n");
}

function clean(text: string, max = 120): string {
  return toPlainText(text, { max });
}
