import { tmpdir } from "node:os";
import { join } from "node:path";
import { exactTime } from "../../base/text.ts";
import { compactStore } from "../../service/backup/compact-store.ts";
import { makeBackup } from "../../service/backup/make-backup.ts";
import { checkBackup, restoreBackup } from "../../service/backup/restore-backup.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { wrapWords } from "../terminal.ts";

interface FolderFlags {
  readonly data?: string;
}

/** `svc backup`: writes a service's data folder to one file, also while it runs. */
export async function backup(
  { places, terminal }: CliContext,
  name: string | undefined,
  { data = places.service }: FolderFlags,
): Promise<number> {
  const now = Date.now();
  const file = name ?? join(process.cwd(), `svc-backup-${toStamp(now)}.tar.gz`);
  terminal.progress(`Writing ${file} …`);
  const made = await makeBackup({ dataDir: data, file, now });
  terminal.endProgress();
  const advice =
    "It holds every secret of the service, and only you can read it. Keep SVC_SECRET, if you set it, elsewhere.";
  terminal.answer({ file: made.file, bytes: made.bytes, files: made.files, createdAt: made.createdAt }, () =>
    [
      `${made.file}: ${made.files} files, ${showSize(made.bytes)}.`,
      wrapWords(advice, terminal.columns, ""),
      `Next: "svc restore ${made.file} --check" proves that it can be read.`,
    ].join("\n"),
  );
  return EXIT.ok;
}

/** `svc restore`: makes a data folder of a backup, or only checks the backup. */
export async function restore(
  { places, terminal }: CliContext,
  file: string,
  { data: named, ...flags }: FolderFlags & { readonly check?: true; readonly replace?: true },
): Promise<number> {
  const data = named ?? places.service;
  terminal.progress(`Unpacking and checking ${file} …`);
  if (flags.check === true) {
    const { createdAt, files } = await checkBackup(file, tmpdir());
    terminal.endProgress();
    terminal.answer({ file, files, createdAt }, () => `A whole backup: ${files} files, of ${exactTime(createdAt)}.`);
    return EXIT.ok;
  }
  const restored = await restoreBackup({ file, dataDir: data, now: Date.now(), replace: flags.replace === true });
  terminal.endProgress();
  const { createdAt, files, moved } = restored;
  const warning =
    "What happened after that is lost, the record of calls included: a write that a device repeats under its old key runs again.";
  terminal.answer({ dataDir: data, files, createdAt, ...(moved === undefined ? {} : { moved }) }, () =>
    [
      `Restored ${data}: ${files} files, of ${exactTime(createdAt)}.`,
      wrapWords(warning, terminal.columns, ""),
      ...(moved === undefined ? [] : [`The folder that was there is now ${moved}.`]),
      `Next: start it with "svc serve${named === undefined ? "" : ` --data ${named}`}".`,
    ].join("\n"),
  );
  return EXIT.ok;
}

/** `svc compact`: gives the disk back what the database no longer needs. */
export async function compact(
  { places, terminal }: CliContext,
  { data = places.service }: FolderFlags,
): Promise<number> {
  terminal.progress("Compacting …");
  const { before, after } = await compactStore(data);
  terminal.endProgress();
  terminal.answer({ before, after }, () => `The database had ${showSize(before)} and has ${showSize(after)} now.`);
  return EXIT.ok;
}

const toStamp = (now: number) => new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "");

const showSize = (bytes: number) => (bytes < 1e5 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
