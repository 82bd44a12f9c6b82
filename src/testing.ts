export { createScriptedApprover, type ScriptedAnswer, type ScriptedApprover } from "./calls/ask/scripted-approver.ts";
export {
  type CheckedTool,
  createToolChecks,
  describeSvcTool,
  type TestFunctions,
  type ToolCheck,
  type ToolCheckSubject,
} from "./calls/check-tool.ts";
export { startTestService, type TestService } from "./service/test-kit/start-test-service.ts";
