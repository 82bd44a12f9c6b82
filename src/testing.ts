export { createScriptedApprover, type ScriptedAnswer, type ScriptedApprover } from "./approvals/scripted-approver.ts";
export { startTestService, type TestService } from "./service/test-kit/start-test-service.ts";
export {
  type CheckedTool,
  createToolChecks,
  describeSvcTool,
  type TestFunctions,
  type ToolCheck,
  type ToolCheckSubject,
} from "./tools/check-tool.ts";
