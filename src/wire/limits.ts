/** The numbers of the document's "Limits" table; sizes in bytes, times in milliseconds. */

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
