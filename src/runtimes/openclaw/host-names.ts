/** Id of the plugin's provider in the host's credential store. */
export const PROVIDER_ID = "svc";

/** Name of the key in that store. */
export const PROFILE_ID = "svc:default";

/** Method of the gateway by which `openclaw svc` reaches what only the running gateway knows. */
export const COMMAND_METHOD = "svc.command";
