import { SvcError } from "../../errors.ts";

/**
 * The optional package `langchain`, loaded when something needs it.
 *
 * @throws SvcError `unsupported` when it is not installed; `what` begins the message
 */
export async function loadLangChain(what: string): Promise<typeof import("langchain")> {
  try {
    return await import("langchain");
  } catch (cause) {
    throw new SvcError("unsupported", `${what} needs the package langchain, which is not installed.`, {
      hint: "Run npm install langchain.",
      cause,
    });
  }
}
