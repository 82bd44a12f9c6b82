import { createGate } from "../../shared/base/concurrency.ts";
import { shortenText } from "../../shared/base/text.ts";
import type { FlowPreview } from "../../shared/wire/flow.ts";
import { MAX_PREVIEW_BYTES, MAX_PREVIEW_MS } from "../../shared/wire/preview.ts";
import type { Principal } from "../auth/api-keys.ts";
import { createFileLook } from "../executions/resolve-files.ts";
import type { PreparedCall } from "../executions/run-action.ts";
import { ServiceError } from "../service-error.ts";
import type { FlowParts } from "./flow-rows.ts";
import type { PlannedCall } from "./flow-template.ts";
import { type AheadOf, type CallAhead, planAhead } from "./plan-ahead.ts";

/** Calls that are looked at for one approval; further ones are counted. */
const MAX_LOOKED = 50;
/** Looks at one time. */
const CONCURRENCY = 4;
/** Longest name of a call, and longest refusal, in characters. */
const MAX_TEXT = 200;

/**
 * What the calls that an approval would let a flow make would do to what is there now, by reads alone: in five seconds and 64 kB
 * of JSON together. Never throws: what could not be looked at says so. Calls whose actions cannot tell are left out.
 */
export async function lookAhead(
  parts: FlowParts,
  o: AheadOf & { readonly principal: Principal },
): Promise<FlowPreview[]> {
  const { calls, unknown } = planAhead(o);
  const telling = calls.filter(({ toolName }) => parts.catalog.find(toolName)?.action.preview !== undefined);
  const gate = createGate(CONCURRENCY);
  const clientGone = AbortSignal.timeout(MAX_PREVIEW_MS);
  const found = await Promise.all(
    telling
      .slice(0, MAX_LOOKED)
      .map((call) => gate.run(() => describeCall(parts, { ...call, principal: o.principal, clientGone }))),
  );
  const rest = telling.slice(MAX_LOOKED);
  const [next] = rest;
  const counted =
    next === undefined
      ? []
      : [
          {
            stepKey: next.stepKey,
            missing: { code: "too_many", text: `${rest.length} more calls were not looked at.` },
          },
        ];
  return fitIn([...found.flat(), ...counted, ...unknown]);
}

/** A call to look at. */
export interface Look extends Omit<CallAhead, "call" | "stepKey"> {
  readonly principal: Principal;
  readonly call: Pick<PlannedCall, "arguments">;
  /** Ends the look. */
  readonly clientGone: AbortSignal;
}

/** None where the action cannot tell. */
async function describeCall(parts: FlowParts, o: Look & CallAhead): Promise<FlowPreview[]> {
  const { stepKey, toolName, call } = o;
  const { key, item } = call;
  const base = {
    stepKey,
    toolName,
    key,
    label: shortenText(call.label, MAX_TEXT),
    ...(item !== undefined && { item }),
  };
  try {
    const { looked } = await look(parts, o);
    if (looked?.preview !== undefined) return [{ ...base, preview: looked.preview }];
    return looked?.failure === undefined ? [] : [{ ...base, missing: NOT_READABLE }];
  } catch (error) {
    return [{ ...base, missing: explain(error) }];
  }
}

const NOT_READABLE = { code: "not_readable", text: "The present state could not be read." };
const TOO_LARGE = { code: "too_large", text: "What it would do is too long to be shown with the others." };

/** A failure of the service, or of the app for now, says nothing about what the call would meet. */
function explain(error: unknown): { readonly code: string; readonly text: string } {
  if (!(error instanceof ServiceError) || error.status >= 500) return NOT_READABLE;
  return { code: "refused", text: `As things are, it would be refused: ${shortenText(error.message, MAX_TEXT)}` };
}

/** Looks at a call as it would run now. Throws ServiceError: the refusal of one that cannot. */
export function look(
  parts: FlowParts,
  { principal, toolName, connectionId, call, clientGone }: Look,
): Promise<PreparedCall> {
  return parts.executor.check({
    principal,
    toolName,
    connectionId,
    arguments: call.arguments,
    clientGone,
    ...createFileLook(parts.files, principal.accountId),
    // Files are fetched when the call is made.
    resolveFiles: async (_entry, args) => ({ args, stored: [], file: refuseFile }),
  });
}

function refuseFile(): never {
  throw new Error("No file is opened before the call is made.");
}

/** The first ones whole, as far as they fit; of the others it is said that they do not. */
function fitIn(previews: readonly FlowPreview[]): FlowPreview[] {
  const size = (one: FlowPreview) => Buffer.byteLength(JSON.stringify(one));
  const short = previews.map((one) => {
    const { preview, ...rest } = one;
    return preview === undefined ? one : { ...rest, missing: TOO_LARGE };
  });
  let used = short.reduce((sum, one) => sum + size(one) + 1, 2);
  return previews.map((one, index) => {
    const frame = short[index] ?? one;
    const more = Math.max(0, size(one) - size(frame));
    if (used + more > MAX_PREVIEW_BYTES) return frame;
    used += more;
    return one;
  });
}
