import { readInputProblem } from "../../flows/flow-template.ts";
import { listFields } from "../../flows/template-input.ts";
import { ServiceError } from "../../service-error.ts";
import { type TriggerContent, triggerContentSchema } from "../../triggers/trigger.ts";
import { type FieldProblem, nameFields, readInput } from "./flow-inputs.ts";
import { type Choice, PAIRS, type Typed } from "./trigger-form.ts";

/** The trigger that a form describes, or the problems of its fields. */
export function readTriggerForm(choice: Choice, form: URLSearchParams): TriggerContent | readonly FieldProblem[] {
  const typed: Typed = Object.fromEntries(form);
  const read = triggerContentSchema.safeParse({
    name: typed.name ?? "",
    on: readOn(choice, typed),
    act: readAct(choice, form, typed),
  });
  const issues = read.error?.issues ?? [];
  const found = issues.map(({ path, message }) => ({ field: String(path.at(-1) ?? ""), problem: message }));
  if (choice.deed === "wake" && (typed.token ?? "") === "") found.push({ field: "token", problem: "is needed" });
  const problems = found.filter(({ field }, index) => found.findIndex((one) => one.field === field) === index);
  return read.data === undefined || problems.length > 0 ? problems : read.data;
}

/** A refusal as a problem of the form; undefined for a fault of the service. */
export function toProblem(error: unknown, { template }: Choice): FieldProblem | undefined {
  if (!(error instanceof ServiceError)) return undefined;
  const input = readInputProblem(error);
  if (input !== undefined && template !== undefined) {
    return { ...input, problem: nameFields(input.problem, listFields(template)) };
  }
  const { field } = error.options.extra ?? {};
  if (typeof field === "string") return { field, problem: error.message };
  const [whole = "", argument = ""] = /^arguments\.(\w+) /.exec(error.message) ?? [];
  return { field: argument, problem: error.message.slice(whole.length).replace(argument === "" ? "" : /\.$/, "") };
}

function readOn({ kind }: Choice, typed: Typed): TriggerContent["on"] {
  const { cron = "", zone = "", query = "", folder = "", pattern = "", account = "" } = typed;
  const own = account === "" ? {} : { account };
  switch (kind) {
    case "schedule":
      return { kind, cron, zone };
    case "mail":
      return { kind, query, ...own };
    case "file":
      return { kind, folder, pattern, ...own };
    case "webhook":
      return { kind };
  }
}

function readAct({ deed, template }: Choice, form: URLSearchParams, typed: Typed): TriggerContent["act"] {
  const { url = "", text = "" } = typed;
  if (deed === "wake") return { does: deed, url, text: text.replaceAll("\r\n", "\n") };
  if (deed === "post" || template === undefined) return { does: "post", url };
  const pairs = PAIRS.map((pair) => [typed[`field-${pair}`]?.trim() ?? "", typed[`value-${pair}`]?.trim() ?? ""]);
  const take = Object.fromEntries(pairs.filter(([field, value]) => field !== "" && value !== ""));
  return { does: deed, template: template.key, input: readInput(listFields(template), form), take };
}
