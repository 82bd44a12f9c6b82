export {
  type ApprovalMiddlewareOptions,
  createApprovalMiddleware,
} from "./plugin/runtimes/langchain/approval-middleware.ts";
export { createDynamicToolsMiddleware, type DynamicToolsOptions } from "./plugin/runtimes/langchain/dynamic-tools.ts";
export {
  type ApprovalInterrupt,
  type InterruptQuestion,
  isApprovalInterrupt,
} from "./plugin/runtimes/langchain/interrupt-payload.ts";
export type { ProgressEvent } from "./plugin/runtimes/langchain/progress.ts";
export { readOutcome, type SvcTool } from "./plugin/runtimes/langchain/svc-tool.ts";
export { SvcToolkit } from "./plugin/runtimes/langchain/toolkit.ts";
export type { SvcToolkitOptions, ToolFilter } from "./plugin/runtimes/langchain/toolkit-options.ts";
