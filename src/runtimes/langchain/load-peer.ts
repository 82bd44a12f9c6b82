import { SvcError } from "../../errors.ts";

/**
 * An optional package, loaded when something needs it.
 *
 * @throws SvcError `unsupported` when it is not installed; `what` begins the message
 */
async function loadPeer<Peer>(name: string, what: string, load: () => Promise<Peer>): Promise<Peer> {
  try {
    return await load();
  } catch (cause) {
    throw new SvcError("unsupported", `${what} needs the package ${name}, which is not installed.`, {
      hint: `Run npm install ${name}.`,
      cause,
    });
  }
}

/** The package `langchain`. */
export function loadLangChain(what: string): Promise<typeof import("langchain")> {
  return loadPeer("langchain", what, () => import("langchain"));
}

/** The package of the graph that runs. */
export function loadLangGraph(): Promise<typeof import("@langchain/langgraph")> {
  return loadPeer("@langchain/langgraph", "Asking through a graph", () => import("@langchain/langgraph"));
}
