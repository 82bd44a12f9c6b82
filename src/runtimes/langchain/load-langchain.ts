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

/**
 * LangChain's own `AgentMiddleware`. Where the optional package `langchain` is not installed it is `any`, so that the
 * declarations of this package compile beside `@langchain/core` alone.
 */
// biome-ignore lint/suspicious/noTsIgnore: an expected error would be missing wherever langchain is installed.
/** @ts-ignore */
export type AgentMiddleware = import("langchain").AgentMiddleware;
