import { SvcError } from "../errors.ts";
import { LineReader } from "../runtimes/terminal/line-reader.ts";
import type { CliContext } from "./context.ts";

/**
 * Asks a question that is answered with y or n; anything else is no.
 *
 * @throws SvcError `invalid_config` where nobody answers: `--yes` has to say it there.
 */
export async function askYesNo({ input, output, terminal, signal }: CliContext, question: string): Promise<boolean> {
  const reader = new LineReader({ input, output: terminal.json ? process.stderr : output });
  try {
    await reader.discardTypedAhead();
    const answer = await reader.read(`${question} [y/N] `, signal);
    if (answer.kind === "line") return /^y(es)?$/i.test(answer.text.trim());
    if (answer.kind === "interrupted") return false;
  } finally {
    reader.close();
  }
  throw new SvcError("invalid_config", "Nobody answered.", {
    field: "--yes",
    hint: "Look at what is shown above, then run the same command with --yes.",
  });
}
