import { open } from "node:fs/promises";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { exportLog, LOG_STATUSES, type LogLine } from "../../service/approvals/export-log.ts";
import { hasCode } from "../../shared/base/error-code.ts";
import { SvcError } from "../../shared/errors.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";

interface LogExportFlags {
  readonly from?: string;
  readonly to?: string;
  readonly tool?: string;
  readonly status?: string;
  readonly full?: true;
  readonly file?: string;
  readonly data?: string;
  readonly database?: string;
}

/** `svc log export`: the log of a service of this machine, one JSON object a line. */
export async function logExport(context: CliContext, flags: LogExportFlags): Promise<number> {
  const { from, to, tool, status, file, database } = flags;
  checkDay("--from", from);
  checkDay("--to", to);
  checkStatus(status);
  const dataDir = flags.data ?? context.places.service;
  const lines = exportLog({ from, to, tool, status, dataDir, database, isFull: flags.full ?? false });
  if (file === undefined) {
    await write(lines, process.stdout, context.signal).catch(ignoreClosedPipe);
    return EXIT.ok;
  }
  const handle = await open(file, "w", 0o600).catch((cause) => {
    throw refuse(
      "--file",
      `The file ${file} cannot be written.`,
      "Name a file in a folder that you may write to.",
      cause,
    );
  });
  const count = await write(lines, handle.createWriteStream(), context.signal);
  context.terminal.answer({ file, lines: count }, () => `${count} lines in ${file}`);
  return EXIT.ok;
}

async function write(lines: AsyncIterable<LogLine>, to: Writable, signal: AbortSignal): Promise<number> {
  let count = 0;
  const toText = async function* () {
    for await (const line of lines) {
      count += 1;
      yield `${JSON.stringify(line)}\n`;
    }
  };
  await pipeline(Readable.from(toText()), to, { end: to !== process.stdout, signal });
  return count;
}

/** A reader may stop early (`svc log export | head`). */
function ignoreClosedPipe(error: unknown): void {
  if (!hasCode(error, "EPIPE")) throw error;
}

function checkDay(flag: string, day: string | undefined): void {
  if (day === undefined || z.iso.date().safeParse(day).success) return;
  throw refuse(flag, `${flag} is "${day}"; it must be a day.`, "Write it as YYYY-MM-DD, for example 2026-11-25.");
}

function checkStatus(status: string | undefined): void {
  const known: readonly string[] = Object.values(LOG_STATUSES).flat();
  if (status === undefined || known.includes(status)) return;
  throw refuse("--status", `There is no status "${status}".`, `Use one of: ${known.join(", ")}.`);
}

function refuse(field: string, message: string, hint: string, cause?: unknown): SvcError {
  return new SvcError("invalid_config", message, { field, hint, cause });
}
