import { type GraphConfig, isKeptInProcess } from "./graph-config.ts";

/** Told to the host once, when a run that can be resumed elsewhere makes its first call that may act. */
interface Forgetful {
  readonly type: "writes_not_remembered";
}

/**
 * Says once that a graph outlives what is remembered of its calls: its checkpointer keeps the conversation, and there is
 * neither a state folder nor a store. Without `tell` the process is warned.
 */
export function createMemoryWarning(tell: (event: Forgetful) => void = warn): (config: GraphConfig) => void {
  let isTold = false;
  return (config) => {
    if (isTold || isKeptInProcess(config)) return;
    isTold = true;
    tell({ type: "writes_not_remembered" });
  };
}

let isWarned = false;

/** Once in a process, however many toolkits it makes. */
function warn(): void {
  if (isWarned) return;
  isWarned = true;
  const text =
    "This graph has a checkpointer, but what its tools send is remembered by this process only. After a crash, or when two processes resume one thread at once, an approved call can be sent twice. Give SvcToolkit.create a stateDir, or the graph a store.";
  process.emitWarning(text, { type: "SvcWarning", code: "SVC_WRITES_NOT_REMEMBERED" });
}
