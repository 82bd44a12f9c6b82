import type { FlowRow } from "../store/schema.ts";
import type { FlowTemplate } from "./flow-template.ts";

/** The templates of a service. */
export interface FlowTemplates {
  /** Those that can be started now. */
  list(): readonly FlowTemplate[];
  /** The template a flow was started from; undefined when this service does not have it. */
  of(flow: Pick<FlowRow, "template_key">): FlowTemplate | undefined;
}

/** Creates the templates of a service from those that are part of it. */
export function createTemplates(builtIn: readonly FlowTemplate[]): FlowTemplates {
  return {
    list: () => builtIn,
    of: ({ template_key }) => builtIn.find(({ key }) => key === template_key),
  };
}
