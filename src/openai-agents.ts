export { type AgentApproval, type AgentTools, openAgentTools } from "./plugin/runtimes/openai-agents/agent-tools.ts";
