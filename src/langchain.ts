export { type ApprovalMiddlewareOptions, createApprovalMiddleware } from "./runtimes/langchain/approval-middleware.ts";
export { createDynamicToolsMiddleware, type DynamicToolsOptions } from "./runtimes/langchain/dynamic-tools.ts";
export {
  type ApprovalInterrupt,
  type InterruptQuestion,
  isApprovalInterrupt,
} from "./runtimes/langchain/interrupt-payload.ts";
export type { ProgressEvent } from "./runtimes/langchain/progress.ts";
export { readOutcome, type SvcTool } from "./runtimes/langchain/svc-tool.ts";
export { SvcToolkit } from "./runtimes/langchain/toolkit.ts";
export type { SvcToolkitOptions, ToolFilter } from "./runtimes/langchain/toolkit-options.ts";
