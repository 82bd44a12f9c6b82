import { SvcError } from "../../../shared/errors.ts";

/**
 * The package `langchain`. Each import stands in a `try` of its own: bundlers take the package then for one that may be missing.
 *
 * @throws SvcError `unsupported` when it is not installed; `what` begins the message
 */
export async function loadLangChain(what: string): Promise<typeof import("langchain")> {
  try {
    return await import("langchain");
  } catch (cause) {
    throw createMissing("langchain", what, cause);
  }
}

/**
 * The package of the graph that runs.
 *
 * @throws SvcError `unsupported` when it is not installed
 */
export async function loadLangGraph(): Promise<typeof import("@langchain/langgraph")> {
  try {
    return await import("@langchain/langgraph");
  } catch (cause) {
    throw createMissing("@langchain/langgraph", "Asking through a graph", cause);
  }
}

function createMissing(name: string, what: string, cause: unknown): SvcError {
  return new SvcError("unsupported", `${what} needs the package ${name}, which is not installed.`, {
    hint: `Run npm install ${name}.`,
    cause,
  });
}
