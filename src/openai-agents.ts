export { type AgentApproval, type AgentTools, openAgentTools } from "./runtimes/openai-agents/agent-tools.ts";
