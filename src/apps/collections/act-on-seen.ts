import { ServiceError } from "../../service/service-error.ts";
import type { ActionContext } from "../port/integration.ts";
import { checkState, refuseChanged } from "../port/preview.ts";
import type { Collection, StoredItem } from "./collection-store.ts";

/** What a write of an item depends on, for the state of a preview. */
export function seeItem({ id, etag }: StoredItem): unknown {
  return [id, etag];
}

/** What a new item depends on: where it goes. */
export function seeCollection({ id, name }: Collection): unknown {
  return [id, name];
}

/**
 * Acts on what was read, where the call was approved for another state not at all: throws ServiceError 412 `state_changed`
 * then, also where the store finds at the moment of the act that somebody else was faster.
 */
export async function actOnSeen<T>(
  context: Pick<ActionContext, "expectedState">,
  seen: unknown,
  act: () => Promise<T>,
): Promise<T> {
  checkState(context, seen);
  return act().catch((error: unknown) => {
    const isLate = error instanceof ServiceError && ["conflict", "not_found"].includes(error.code);
    throw isLate && context.expectedState !== undefined ? refuseChanged() : error;
  });
}
