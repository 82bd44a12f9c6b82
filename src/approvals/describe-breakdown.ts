/**
 * What is told of a failure on this machine, such as a full disk under the journal: its code at most, since its text may
 * hold a path.
 */
export function describeBreakdown(error: unknown): { code: string; message: string; hint: string; retryable: boolean } {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unexpected";
  return {
    code: "internal",
    message: `The call could not be carried out on this machine (${code}).`,
    hint: "Tell the user; check the disk and the state folder.",
    retryable: false,
  };
}
