/** Where the service writes what its operator should know; `cause` may hold a stack and never leaves the machine. */
export type ServiceLog = (entry: { level: "info" | "warn" | "error"; message: string; cause?: unknown }) => void;
