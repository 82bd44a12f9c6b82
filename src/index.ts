export { type CardOptions, createApprovalCard } from "./approvals/card.ts";
export type {
  ApprovalDecision,
  ApprovalFile,
  ApprovalRequest,
  Approver,
  Effect,
} from "./approvals/request.ts";
export type { AccessTokenSource } from "./client/access-token.ts";
export { SvcClient } from "./client/client.ts";
export type { SvcClientOptions } from "./client/client-options.ts";
export type { ExecuteReply } from "./client/executions.ts";
export type { RequestBody } from "./client/request.ts";
export type { CallOptions } from "./client/transport.ts";
export {
  isSvcError,
  type NextAction,
  SvcError,
  type SvcErrorCode,
  type SvcErrorOptions,
} from "./errors.ts";
export type { SignIn } from "./pairing/credential-file.ts";
export { type CredentialStore, type Credentials, openCredentialStore } from "./pairing/credentials.ts";
export { type PairOptions, type PairProgress, pairDevice } from "./pairing/pair.ts";
export { type SignInOptions, type SignInProgress, signIn } from "./pairing/sign-in.ts";
export { openSignInStore, type SignInStore } from "./pairing/sign-in-store.ts";
export { type SignOutReport, signOut } from "./pairing/sign-out.ts";
export { createTokenSource, type TokenSourceOptions } from "./pairing/token-source.ts";
export {
  type OfferedCall,
  type OfferedTool,
  openToolbox,
  type Toolbox,
  type ToolboxOptions,
  type ToolReply,
} from "./runtimes/library/open-toolbox.ts";
export { createTerminalApprover } from "./runtimes/terminal/approve-in-terminal.ts";
export { type ArgumentGuard, createArgumentGuard, type GuardResult } from "./schema/argument-guard.ts";
export { projectToolSchema } from "./schema/project-schema.ts";
export type { ConnectAnswer, ConnectLink, ConnectPresenter } from "./tools/await-connection.ts";
export type { SyncReport, ToolCatalog } from "./tools/catalog.ts";
export type { CatalogEntry } from "./tools/catalog-entry.ts";
export type { ConnectionChoice, OutcomeStatus, ToolOutcome } from "./tools/outcome.ts";
export type { PinChange, PinMode, Pins } from "./tools/pins.ts";
export type { ConnectionChooser, ConnectionQuestion, ToolCall, UploadMode, ValidationMode } from "./tools/pipeline.ts";
export type { ResultPage } from "./tools/results.ts";
export { createToolSession, type ToolSession, type ToolSessionOptions } from "./tools/session.ts";
export type { SessionEvent } from "./tools/session-events.ts";
export type { StaticTool } from "./tools/static-tools.ts";
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
