export type { SvcTool } from "./runtimes/langchain/svc-tool.ts";
export { SvcToolkit, type SvcToolkitOptions, type ToolFilter } from "./runtimes/langchain/toolkit.ts";
