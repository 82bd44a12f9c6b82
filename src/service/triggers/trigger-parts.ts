import type { Access } from "../access/access-view.ts";
import type { RunParts } from "../executions/run-action.ts";
import type { Flows } from "../flows/flows.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import type { ServiceLog } from "../service-error.ts";
import type { Node } from "../store/node.ts";
import type { Store } from "../store/open-store.ts";

/** Parts that triggers need. */
export interface TriggerParts extends RunParts {
  readonly store: Store;
  readonly box: SecretBox;
  readonly accountId: string;
  /** A trigger sees what a key without limits sees, and the owner's rules count. */
  readonly access: Access;
  readonly flows: Pick<Flows, "startAlone" | "check">;
  readonly node: Pick<Node, "id" | "isShared" | "listAlive" | "onBeat">;
  /** Milliseconds between two looks into an app. */
  readonly lookEveryMs: number;
  /** False while the clock is in doubt: no schedule runs act. */
  readonly isClockBelieved: () => boolean;
  readonly log: ServiceLog;
}

/** A time as rows keep it; `offset` in milliseconds. */
export function toRowTime({ now }: Pick<TriggerParts, "now">, offset = 0): string {
  return new Date(now() + offset).toISOString();
}
