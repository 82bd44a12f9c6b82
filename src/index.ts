export { type CardOptions, createApprovalCard } from "./calls/ask/card.ts";
export type {
  ApprovalDecision,
  ApprovalFile,
  ApprovalRequest,
  Approver,
  Effect,
} from "./calls/ask/request.ts";
export type { SyncReport, ToolCatalog } from "./calls/catalog/catalog.ts";
export type { CatalogEntry } from "./calls/catalog/catalog-entry.ts";
export type { PinChange, PinMode, Pins } from "./calls/catalog/pins.ts";
export type { ContinueAnswer, ContinuedCall, ContinueOptions, PreparedCall } from "./calls/continue.ts";
export type { ConnectionChoice, OutcomeStatus, ToolOutcome } from "./calls/outcome.ts";
export type {
  ConnectAnswer,
  ConnectionChooser,
  ConnectionQuestion,
  ConnectLink,
  ConnectPresenter,
  ToolCall,
  UploadMode,
  ValidationMode,
} from "./calls/pipeline.ts";
export type { ResultPage } from "./calls/results.ts";
export { createToolSession, type ToolSession, type ToolSessionOptions } from "./calls/session.ts";
export type { SessionEvent } from "./calls/session-events.ts";
export type { StaticTool } from "./calls/static-tools.ts";
export { SvcClient } from "./client/client.ts";
export type { SvcClientOptions } from "./client/client-options.ts";
export type { ExecuteReply } from "./client/reply.ts";
export type { RequestBody } from "./client/request.ts";
export type { CallOptions } from "./client/transport.ts";
export {
  isSvcError,
  type NextAction,
  SvcError,
  type SvcErrorCode,
  type SvcErrorOptions,
} from "./errors.ts";
export { type CredentialStore, type Credentials, openCredentialStore } from "./pairing/credentials.ts";
export { type PairOptions, type PairProgress, pairDevice } from "./pairing/pair.ts";
export {
  type OfferedCall,
  type OfferedTool,
  openToolbox,
  type Toolbox,
  type ToolboxOptions,
  type ToolReply,
} from "./runtimes/library/open-toolbox.ts";
export { createTerminalApprover } from "./runtimes/terminal/approve-in-terminal.ts";
export { projectToolSchema } from "./schema/project/project-schema.ts";
export { type ArgumentGuard, createArgumentGuard, type GuardResult } from "./schema/repair/argument-guard.ts";
export type {
  ActionDetail,
  ActionItem,
  ActionList,
  CatalogSearch,
  CatalogSearchItem,
  IntegrationItem,
  IntegrationPage,
  SideEffectLevel,
} from "./wire/catalog.ts";
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
} from "./wire/execution.ts";
export type { FileAttachment, FileUploadable, IngestReply } from "./wire/file.ts";
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
} from "./wire/flow.ts";
export type { McpListing, RpcRequest, RpcResponse, ServerCard } from "./wire/mcp.ts";
export type {
  BootstrapPollReply,
  BootstrapStartReply,
  PairExchangeReply,
  PairStartReply,
  PairStartRequest,
} from "./wire/registration.ts";
export type { JsonSchema, Tool, ToolList, ToolSearch } from "./wire/tool.ts";
