/** The values each door exports, sorted. Adding one here is a promise to users of the package. */
export const EXPORTS: Readonly<Record<string, readonly string[]>> = {
  ".": [
    "SvcClient",
    "SvcError",
    "createArgumentGuard",
    "createTerminalApprover",
    "createToolSession",
    "isSvcError",
    "openCredentialStore",
    "pairDevice",
    "projectToolSchema",
  ],
  "./langchain": ["SvcToolkit", "createApprovalMiddleware", "createDynamicToolsMiddleware"],
  "./service": ["createService"],
  "./testing": ["createScriptedApprover", "createToolChecks", "describeSvcTool", "startTestService"],
};
