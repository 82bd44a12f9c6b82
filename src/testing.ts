export {
  createScriptedApprover,
  type ScriptedAnswer,
  type ScriptedApprover,
} from "./plugin/calls/ask/scripted-approver.ts";
export {
  type CheckedTool,
  createToolChecks,
  describeSvcTool,
  type TestFunctions,
  type ToolCheck,
  type ToolCheckSubject,
} from "./plugin/calls/check-tool.ts";
export { startTestService, type TestService } from "./service/test-kit/start-test-service.ts";
