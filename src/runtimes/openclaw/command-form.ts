/** How commands are written where an answer is read. */
export type CommandForm = "/svc" | "openclaw svc";

/** In a chat with the agent. */
export const CHAT: CommandForm = "/svc";

/** In a terminal. */
export const TERMINAL: CommandForm = "openclaw svc";
