import { readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { compactStore } from "../../service/backup/compact-store.ts";
import type { BackupPowers } from "../../service/backup/describe-backup.ts";
import { makeBackup } from "../../service/backup/make-backup.ts";
import { checkBackup, restoreBackup } from "../../service/backup/restore-backup.ts";
import { exactTime } from "../../shared/base/text.ts";
import { toPlainText } from "../../shared/card/plain-text.ts";
import { SvcError } from "../../shared/errors.ts";
import { type CliContext, sayReaders } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { wholeNumber } from "../settings.ts";
import { quotePath, wrapWords } from "../terminal.ts";

interface FolderFlags {
  readonly data?: string;
}

const MOST_KEPT = 10_000;

/** Names that {@link backup} chooses by itself: in the order of time they are in the order of the alphabet. */
const CHOSEN_NAME = /^svc-backup-\d{8}T\d{6}Z\.tar\.gz$/;

/**
 * `svc backup`: writes a service's data folder to one file, also while it runs. With `keep`, the older ones of the backups
 * in its folder that have a name chosen here are removed after that, until `keep` are left.
 */
export async function backup(
  { places, terminal }: CliContext,
  name: string | undefined,
  { data = places.service, ...flags }: FolderFlags & { readonly keep?: string },
): Promise<number> {
  const now = Date.now();
  const isFolder = name === undefined || (await stat(name).catch(() => undefined))?.isDirectory() === true;
  const keep = flags.keep === undefined ? undefined : wholeNumber(flags.keep, "--keep", 1, MOST_KEPT);
  if (keep !== undefined && !isFolder) throw refuseKeep(name);
  const file = isFolder ? join(name ?? process.cwd(), `svc-backup-${toStamp(now)}.tar.gz`) : name;
  terminal.progress(`Writing ${file} …`);
  const made = await makeBackup({ dataDir: data, file, now });
  const removed = keep === undefined ? [] : await removeOlder(made.file, keep);
  terminal.endProgress();
  const advice = `It holds every secret of the service, ${sayReaders(made.file)}. Keep SVC_SECRET, if you set it, elsewhere.`;
  const leftOut = made.leftOut.map((path) => toPlainText(path));
  const elsewhere = made.elsewhere.map(({ folder, connection }) => toPlainText(`${folder} (${connection})`));
  const told = { file: made.file, bytes: made.bytes, files: made.files, createdAt: made.createdAt };
  const lists = {
    ...(leftOut.length > 0 && { leftOut }),
    ...(elsewhere.length > 0 && { elsewhere: made.elsewhere }),
    ...(removed.length > 0 && { removed }),
  };
  terminal.answer({ ...told, ...lists }, () =>
    [
      `${made.file}: ${made.files} files, ${showSize(made.bytes)}.`,
      ...(leftOut.length === 0 ? [] : listLines("Links and the like are not in it", leftOut)),
      ...(elsewhere.length === 0 ? [] : listLines("Folders of these connections are not in it", elsewhere)),
      ...(removed.length === 0 ? [] : listLines("Older backups are removed", removed)),
      wrapWords(advice, terminal.columns, ""),
      `Next, to prove that it can be read: svc restore ${quotePath(made.file)} --check`,
    ].join("\n"),
  );
  return EXIT.ok;
}

/** Keeps `file` whatever its name says of its time. Returns what is removed: what cannot be stays, for the backup is made. */
async function removeOlder(file: string, keep: number): Promise<string[]> {
  const folder = dirname(file);
  const names = await readdir(folder).catch(() => []);
  const others = names.filter((name) => CHOSEN_NAME.test(name) && join(folder, name) !== file).sort();
  const removed: string[] = [];
  for (const name of others.slice(0, Math.max(0, others.length - keep + 1))) {
    const path = join(folder, name);
    const isRemoved = await rm(path).then(
      () => true,
      () => false,
    );
    if (isRemoved) removed.push(path);
  }
  return removed;
}

function refuseKeep(name: string): SvcError {
  return new SvcError(
    "invalid_config",
    `${name} is no folder, and only backups with a chosen name are kept and removed.`,
    {
      field: "keep",
      hint: "Name an existing folder in place of a file, or none for the one that you are in.",
    },
  );
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
    const { createdAt, files, powers } = await checkBackup(file, tmpdir());
    terminal.endProgress();
    terminal.answer({ file, files, createdAt, powers }, () =>
      [`A whole backup: ${files} files, of ${exactTime(createdAt)}.`, ...writePowers(powers)].join("\n"),
    );
    return EXIT.ok;
  }
  const restored = await restoreBackup({ file, dataDir: data, now: Date.now(), replace: flags.replace === true });
  terminal.endProgress();
  const { createdAt, files, moved, powers } = restored;
  const warning =
    "What happened after that is lost, the record of calls included: a write that a device repeats under its old key runs again.";
  const twice =
    "Stop the service that it was made of, where that still runs on another machine: both would run the same schedules and triggers.";
  terminal.answer({ dataDir: data, files, createdAt, powers, ...(moved === undefined ? {} : { moved }) }, () =>
    [
      `Restored ${data}: ${files} files, of ${exactTime(createdAt)}.`,
      wrapWords(warning, terminal.columns, ""),
      wrapWords(twice, terminal.columns, ""),
      ...writePowers(powers),
      ...(moved === undefined ? [] : [`The folder that was there is now ${moved}.`]),
      `Next, to start it: svc serve${named === undefined ? "" : ` --data ${quotePath(named)}`}`,
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

/** What the backup brings along, for whoever did not make it. */
function writePowers({ programs, people, keys, apps, allowed }: BackupPowers): string[] {
  return [
    ...listLines("Programs that its service starts", programs),
    ...listLines("People who may sign in", people),
    ...listLines("Keys that work", keys),
    ...listLines("Apps with access by OAuth", apps),
    ...listLines("Calls that run without a question", allowed),
  ];
}

function listLines(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [`${title}: none.`] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
}

const toStamp = (now: number) => new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "");

const showSize = (bytes: number) => (bytes < 1e5 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
