/** Every live API key begins so ("Authentication" 2). */
export const API_KEY_PREFIX = "svc_live_";

/** Header that carries the key; `Authorization: Bearer` is the equivalent form, this one wins when both are sent. */
export const API_KEY_HEADER = "x-svc-api-key";
