import { parseExactly } from "../../shared/base/exact-number.ts";
import { keepNewest } from "../../shared/base/newest.ts";
import type { FlowRow } from "../store/schema.ts";
import type { FlowTemplate } from "./flow-template.ts";
import { compileTemplate } from "./own/compile-template.ts";
import { checkedSchema } from "./own/definition.ts";
import type { FileProblem, TemplateFiles } from "./own/template-files.ts";

/** The templates of a service. */
export interface FlowTemplates {
  /** Those that can be started now. */
  list(): readonly FlowTemplate[];
  /** Mistakes in the files of the owner. */
  problems(): readonly FileProblem[];
  /** The template a flow was started from, as it was then; undefined when this service does not have it. */
  of(flow: Pick<FlowRow, "template_key" | "template">): FlowTemplate | undefined;
}

/** Templates of flows that are kept ready. */
const MAX_KEPT = 100;

/** Creates the templates of a service from those that are part of it, and from the files of its owner. */
export function createTemplates(builtIn: readonly FlowTemplate[], files?: TemplateFiles): FlowTemplates {
  const kept = new Map<string, FlowTemplate>();
  return {
    list: () => [...builtIn, ...(files?.list() ?? [])],
    problems: () => files?.problems() ?? [],
    of({ template_key, template }) {
      if (template === null) return builtIn.find(({ key }) => key === template_key);
      return keepNewest(kept, template, MAX_KEPT, () => compileTemplate(checkedSchema.parse(parseExactly(template))));
    },
  };
}
