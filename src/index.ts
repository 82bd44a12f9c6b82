export { type CardOptions, createApprovalCard } from "./plugin/calls/ask/card.ts";
export type {
  ApprovalDecision,
  ApprovalFile,
  ApprovalRequest,
  Approver,
  Effect,
} from "./plugin/calls/ask/request.ts";
export type { SyncReport, ToolCatalog } from "./plugin/calls/catalog/catalog.ts";
export type { CatalogEntry } from "./plugin/calls/catalog/catalog-entry.ts";
export type { PinChange, PinMode, Pins } from "./plugin/calls/catalog/pins.ts";
export type { ContinueAnswer, ContinuedCall, ContinueOptions, PreparedCall } from "./plugin/calls/continue.ts";
export type { ConnectionChoice, OutcomeStatus, ToolOutcome } from "./plugin/calls/outcome.ts";
export type {
  ConnectAnswer,
  ConnectionChooser,
  ConnectionQuestion,
  ConnectLink,
  ConnectPresenter,
  ToolCall,
  UploadMode,
  ValidationMode,
} from "./plugin/calls/pipeline.ts";
export type { ResultPage } from "./plugin/calls/results.ts";
export { createToolSession, type ToolSession, type ToolSessionOptions } from "./plugin/calls/session.ts";
export type { SessionEvent } from "./plugin/calls/session-events.ts";
export type { StaticTool } from "./plugin/calls/static-tools.ts";
export { SvcClient } from "./plugin/client/client.ts";
export type { SvcClientOptions } from "./plugin/client/client-options.ts";
export type { ExecuteReply } from "./plugin/client/reply.ts";
export type { RequestBody } from "./plugin/client/request.ts";
export type { CallOptions } from "./plugin/client/transport.ts";
export { type CredentialStore, type Credentials, openCredentialStore } from "./plugin/pairing/credentials.ts";
export { type PairOptions, type PairProgress, pairDevice } from "./plugin/pairing/pair.ts";
export {
  type OfferedCall,
  type OfferedTool,
  openToolbox,
  type Toolbox,
  type ToolboxOptions,
  type ToolReply,
} from "./plugin/runtimes/library/open-toolbox.ts";
export { createTerminalApprover } from "./plugin/runtimes/terminal/approve-in-terminal.ts";
export { projectToolSchema } from "./plugin/schema/project/project-schema.ts";
export { type ArgumentGuard, createArgumentGuard, type GuardResult } from "./plugin/schema/repair/argument-guard.ts";
export {
  isSvcError,
  type NextAction,
  SvcError,
  type SvcErrorCode,
  type SvcErrorOptions,
} from "./shared/errors.ts";
export type {
  ActionDetail,
  ActionItem,
  ActionList,
  CatalogSearch,
  CatalogSearchItem,
  IntegrationItem,
  IntegrationPage,
  SideEffectLevel,
} from "./shared/wire/catalog.ts";
export type {
  CanonicalErrorCode,
  CanonicalExecuteRequest,
  ConnectionId,
  ExecutionEnvelope,
  ExecutionStatus,
  ExecutionSummary,
  ToolError,
  ToolErrorCode,
  ToolErrorType,
  ToolExecuteRequest,
  UploadInstruction,
} from "./shared/wire/execution.ts";
export type { FileAttachment, FileUploadable, IngestReply } from "./shared/wire/file.ts";
export type {
  Flow,
  FlowApproveRequest,
  FlowList,
  FlowStartReply,
  FlowStartRequest,
  FlowStep,
  FlowTemplate,
  FlowTemplates,
  FlowView,
} from "./shared/wire/flow.ts";
export type { McpListing, RpcRequest, RpcResponse, ServerCard } from "./shared/wire/mcp.ts";
export type {
  BootstrapPollReply,
  BootstrapStartReply,
  PairExchangeReply,
  PairStartReply,
  PairStartRequest,
} from "./shared/wire/registration.ts";
export type { JsonSchema, Tool, ToolList, ToolSearch } from "./shared/wire/tool.ts";
