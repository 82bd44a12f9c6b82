import { listTexts, readReferences } from "./references.ts";

/** A mistake in a template. */
export interface DefinitionProblem {
  /** E.g. `steps[2].arguments.title`; empty for the file as a whole. */
  readonly field: string;
  /** Ends a sentence that the field begins, and says what to do. */
  readonly problem: string;
}

/** What there is to refer to. */
interface Reach {
  /** Names of the inputs. */
  readonly inputs: readonly string[];
  /** Keys of all steps before, and of those whose outputs may be used. */
  readonly all: readonly string[];
  readonly steps: readonly string[];
  /** True where the step runs for each entry of a list. */
  readonly hasItem?: boolean;
  /** True for a call that changes something. */
  readonly acts?: boolean;
}

/** Every reference in a value must lead to something that is there when its step runs. */
export function checkReferences(value: unknown, place: string, reach: Reach): DefinitionProblem[] {
  return listTexts(value).flatMap(({ place: inner, text }) => {
    const references = readReferences(text);
    const problems =
      references === undefined
        ? ["has {{ }} that is no reference; write {{inputs.name}}, {{steps.key.name}} or {{item.name}}"]
        : references.flatMap(([root = "", name = ""]) => findBroken({ root, name }, reach) ?? []);
    return problems.map((problem) => ({ field: `${place}${inner}`, problem }));
  });
}

function findBroken({ root, name }: { root: string; name: string }, o: Reach): string | undefined {
  const whole = `{{${[root, name].filter(Boolean).join(".")}}}`;
  if (root === "inputs") {
    return o.inputs.includes(name)
      ? undefined
      : `refers to ${whole}, which is no input; there are: ${o.inputs.join(", ") || "none"}`;
  }
  if (root === "item") return o.hasItem ? undefined : `refers to ${whole}, but the step has no "each"`;
  if (root !== "steps") return `refers to ${whole}; a reference begins with inputs, steps or item`;
  if (o.steps.includes(name)) return undefined;
  if (o.acts && o.all.includes(name)) {
    return `refers to ${whole}, which its approval does not know yet; put an approval after "${name}"`;
  }
  return `refers to ${whole}, which is no earlier step`;
}
