import { expectTypeOf } from "vitest";
import type { SideEffectLevel } from "../../src/shared/wire/catalog.ts";
import type { BareError, ConnectionId, ExecutionStatus, ToolErrorType } from "../../src/shared/wire/execution.ts";
import type { FlowStatus, FlowStepStatus, FlowStepType, FlowTriggerType } from "../../src/shared/wire/flow.ts";
import type { McpToolName } from "../../src/shared/wire/mcp.ts";
import type { PairExchangeRequest } from "../../src/shared/wire/registration.ts";
import type { ToolDescription } from "../../src/shared/wire/tool.ts";

// The vocabulary of the document, written out once more by hand.
expectTypeOf<ExecutionStatus>().toEqualTypeOf<"succeeded" | "blocked" | "failed">();
expectTypeOf<SideEffectLevel>().toEqualTypeOf<"read" | "write" | "delete" | "admin">();
expectTypeOf<ToolErrorType>().toEqualTypeOf<"validation" | "auth" | "missing_scopes" | "rate_limit" | "network">();
expectTypeOf<ConnectionId>().toEqualTypeOf<string | number>();
expectTypeOf<FlowStatus>().toEqualTypeOf<"pending" | "running" | "waiting" | "completed" | "failed" | "cancelled">();
expectTypeOf<FlowTriggerType>().toEqualTypeOf<"agent" | "manual" | "webhook" | "schedule">();
expectTypeOf<FlowStepType>().toEqualTypeOf<"tool_call" | "transform" | "wait" | "approval">();
expectTypeOf<FlowStepStatus>().toEqualTypeOf<"pending" | "running" | "waiting" | "completed" | "failed" | "skipped">();
expectTypeOf<"svc.execute">().toExtend<McpToolName>();
expectTypeOf<"svc.delete_everything">().not.toExtend<McpToolName>();

expectTypeOf<BareError["error"]>().toEqualTypeOf<string>();
expectTypeOf<PairExchangeRequest["verifier"]>().toEqualTypeOf<string>();
expectTypeOf<ToolDescription["tool"]["name"]>().toEqualTypeOf<string | null | undefined>();
