import type { FlowView } from "../../shared/wire/flow.ts";
import type { Principal } from "../auth/api-keys.ts";
import { mayTell } from "../executions/tell-preview.ts";

/** A flow as a key may be told it: without what was found in apps where it may read nothing. */
export async function tellPreviews(
  parts: Parameters<typeof mayTell>[0],
  principal: Pick<Principal, "apiKeyId">,
  view: FlowView,
): Promise<FlowView> {
  const found = view.steps.flatMap(({ previews = [] }) => previews.flatMap(({ toolName }) => toolName ?? []));
  const untold = new Set<string>();
  for (const name of new Set(found)) {
    const entry = parts.catalog.find(name);
    if (entry === undefined || !(await mayTell(parts, principal, entry))) untold.add(name);
  }
  if (untold.size === 0) return view;
  const steps = view.steps.map(({ previews, ...step }) => {
    const told = previews?.filter(({ toolName = "" }) => !untold.has(toolName));
    return told === undefined || told.length === 0 ? step : { ...step, previews: told };
  });
  return { ...view, steps };
}
