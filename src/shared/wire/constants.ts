/** The numbers of the document's "Limits" table, and its other constants; sizes in bytes, times in milliseconds. */

/** `GET /api/tools` `limit`: default and maximum. */
export const TOOL_PAGE = { default: 50, max: 200 } as const;

/** `GET /api/flows` `limit`: default and maximum. */
export const FLOW_PAGE = { default: 30, max: 100 } as const;

/** `maxResults` of the mail summary flow template. */
export const FLOW_MAX_RESULTS = { min: 1, max: 20 } as const;

/** Largest single file: 25 MB, read as 25 x 1024 x 1024. */
export const MAX_FILE_BYTES = 25 * 1024 * 1024;

/** Largest sum of decoded file bytes in one execute request; HTTP 413 above. */
export const MAX_REQUEST_FILE_BYTES = 100 * 1024 * 1024;

/** Lifetime of a bootstrap session. */
export const BOOTSTRAP_LIFETIME_MS = 15 * 60 * 1000;

/** Version of the interface that the API document describes ("Versioning" 1). */
export const INTERFACE_VERSION = "1.0.0";

/** Every live API key begins so ("Authentication" 2). */
export const API_KEY_PREFIX = "svc_live_";

/** Header that carries the key; `Authorization: Bearer` is the equivalent form, this one wins when both are sent. */
export const API_KEY_HEADER = "x-svc-api-key";

/** Longest idempotency key, in characters. */
export const MAX_IDEMPOTENCY_KEY = 200;

/** How long a key stands for its execution at least: seven days from the start of that execution. */
export const IDEMPOTENCY_KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** Longest time in which an approved call can still be stopped, in seconds. Ours: not in the document. */
export const MAX_DELAY_SECONDS = 60;
