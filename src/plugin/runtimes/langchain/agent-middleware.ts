/**
 * LangChain's own `AgentMiddleware`. Where the optional package `langchain` is not installed it is `any`, so that the
 * declarations of this package compile beside `@langchain/core` alone; for that, no other declaration of this file may
 * name the package.
 */
// biome-ignore lint/suspicious/noTsIgnore: an expected error would be missing wherever langchain is installed.
/** @ts-ignore */
export type AgentMiddleware = import("langchain").AgentMiddleware;
