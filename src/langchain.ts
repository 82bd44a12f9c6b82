export { type ApprovalMiddlewareOptions, createApprovalMiddleware } from "./runtimes/langchain/approval-middleware.ts";
export { createDynamicToolsMiddleware, type DynamicToolsOptions } from "./runtimes/langchain/dynamic-tools.ts";
export type { ProgressEvent } from "./runtimes/langchain/progress.ts";
export type { SvcTool } from "./runtimes/langchain/svc-tool.ts";
export { SvcToolkit, type SvcToolkitOptions, type ToolFilter } from "./runtimes/langchain/toolkit.ts";
