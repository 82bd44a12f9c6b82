import { canonicalJson } from "../../../src/plugin/calls/ask/fingerprint.ts";

/** What a write does, as one text: tool, arguments, account and bytes of files, whatever the files are called. */
export function nameWrite(write: {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly connection: string | undefined;
  readonly digests: readonly string[];
}): string {
  const { file: _, ...args } = write.args;
  return canonicalJson([write.tool, args, write.connection ?? null, write.digests]);
}
