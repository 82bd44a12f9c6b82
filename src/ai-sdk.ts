export { type AiSdkTools, openAiSdkTools } from "./plugin/runtimes/ai-sdk/ai-sdk-tools.ts";
