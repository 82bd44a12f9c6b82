export { type AiSdkTools, openAiSdkTools } from "./runtimes/ai-sdk/ai-sdk-tools.ts";
