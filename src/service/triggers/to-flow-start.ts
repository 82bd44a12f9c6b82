import { z } from "zod";
import { cleanText } from "../../shared/base/text.ts";
import type { FlowStart } from "../flows/start-flow.ts";
import { jsonText } from "../store/open-store.ts";
import type { TriggerEventRow } from "../store/schema.ts";
import type { EventValues, Trigger } from "./trigger.ts";
import type { TriggerParts } from "./trigger-parts.ts";

/** Longest value of an event that goes into the input of a flow, in characters. */
export const MAX_VALUE = 500;

const valuesSchema = jsonText.pipe(z.record(z.string(), z.string()));

/** The facts of an event. */
export function readValues({ data }: Pick<TriggerEventRow, "data">): EventValues {
  return valuesSchema.parse(data);
}

/** The flow that an event starts; each field that takes a value of the event gets it as one plain text. */
export function toFlowStart(
  { accountId }: Pick<TriggerParts, "accountId">,
  { row, on, act }: Pick<Trigger, "on" | "act"> & { readonly row: { readonly id: string } },
  values: EventValues,
): FlowStart {
  if (act.does !== "flow") throw new Error("This trigger starts no flow.");
  const taken = Object.entries(act.take).map(([field, name]) => [field, cleanText(values[name], MAX_VALUE) ?? ""]);
  return {
    principal: { accountId, apiKeyId: row.id },
    templateKey: act.template,
    input: { ...act.input, ...Object.fromEntries(taken) },
    triggerType: on.kind,
  };
}
