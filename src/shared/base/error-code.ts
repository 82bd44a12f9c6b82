/** The code of a system or library error, such as `ENOENT`; undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** True for an error with this code. */
export function hasCode(error: unknown, code: string): boolean {
  return errorCode(error) === code;
}
