/** The values each door exports, sorted. Adding one here is a promise to users of the package. */
export const EXPORTS: Readonly<Record<string, readonly string[]>> = {
  ".": [
    "SvcClient",
    "SvcError",
    "createApprovalCard",
    "createArgumentGuard",
    "createTerminalApprover",
    "createToolSession",
    "isSvcError",
    "openCredentialStore",
    "openToolbox",
    "pairDevice",
    "projectToolSchema",
  ],
  "./langchain": ["SvcToolkit", "createApprovalMiddleware", "createDynamicToolsMiddleware"],
  "./openclaw": ["default"],
  "./service": [
    "ServiceError",
    "builtInIntegrations",
    "createProviderError",
    "createService",
    "defineAction",
    "describeFile",
    "readRetryAfter",
  ],
  "./testing": ["createScriptedApprover", "createToolChecks", "describeSvcTool", "startTestService"],
};
