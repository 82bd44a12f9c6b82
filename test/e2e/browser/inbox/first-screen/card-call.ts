/** A call that an owner is asked about, and what they have to be able to read on the first screen. */
export interface CardCall {
  /** Names the picture, too. */
  readonly name: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** A file that goes with it, as the argument `file` or in the list `attachments`. */
  readonly file?: { readonly field: "file" | "attachments"; readonly name: string; readonly text: string };
  /** Words that name the thing. */
  readonly object: readonly string[];
  /** Words that say what is done to it. */
  readonly change: readonly string[];
  /** Words that warn of what else follows, or say that there is a way back. */
  readonly consequence: readonly string[];
  /** Words of the change that the inbox alone can show: it has the bytes of the files. */
  readonly inInbox?: readonly string[];
}
