import type { Flow } from "../wire/flow.ts";
import { toPlainText } from "./plain-text.ts";

const CAUSES: Readonly<Record<string, string>> = {
  agent: "by an agent",
  manual: "by hand",
  webhook: "on a webhook",
  schedule: "on schedule",
  mail: "on new mail",
  file: "on a new file",
};

/** Who or what started a flow, e.g. "started by Kitchen laptop", "started on new mail by Keep invoices". */
export function describeStarter({ triggerType, startedOn, startedBy }: Flow): string {
  const by = startedBy === undefined || startedBy === null ? undefined : `by ${toPlainText(startedBy)}`;
  const isByOne = by !== undefined && (triggerType === "agent" || triggerType === "manual");
  const how = isByOne ? undefined : CAUSES[startedOn ?? triggerType ?? ""];
  return ["started", how, by].filter((part) => part !== undefined).join(" ");
}
