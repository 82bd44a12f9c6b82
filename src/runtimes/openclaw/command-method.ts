/** Method of the gateway by which `openclaw svc` reaches what only the running gateway knows. */
export const COMMAND_METHOD = "svc.command";
