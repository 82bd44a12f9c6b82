import { requestTestNotes } from "../../service/notify/note-tests.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { type Terminal, wrapWords } from "../terminal.ts";

interface NotifyFlags {
  readonly data?: string;
  readonly database?: string;
}

/** `svc notify test`: a test note to each target of the service running on a data folder of this machine. */
export async function notifyTest(context: CliContext, flags: NotifyFlags): Promise<number> {
  const { terminal, places, signal } = context;
  const dataDir = flags.data ?? places.service;
  const results = await requestTestNotes({ dataDir, database: flags.database, signal });
  terminal.answer({ results }, () => {
    if (results.length === 0)
      return "This service sends no notes. Start it with --notify, for example ntfy:https://ntfy.sh/TOPIC.";
    return results
      .map(({ target, ok, reason }) =>
        [`${ok ? "sent  " : "failed"}  ${target}`, ...explain(terminal, reason)].join("\n"),
      )
      .join("\n");
  });
  return results.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed;
}

function explain(terminal: Terminal, reason: string | null): string[] {
  return reason === null ? [] : [wrapWords(`        ${reason}`, terminal.columns, "        ")];
}
