/** `outcome` once `write` has put it down. What was done stays told when that fails; a note says that it failed. */
export async function keepOutcome<T extends { readonly notes: readonly string[] }>(
  outcome: T,
  write: () => Promise<void>,
): Promise<T> {
  try {
    await write();
    return outcome;
  } catch {
    const note = "the end of this call could not be written to the journal";
    return { ...outcome, notes: [...outcome.notes, note] };
  }
}
