import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Mounts and process ids of one's own, which end with the process: as root, else as the root of a user namespace. */
export const UNSHARE = "unshare";
const USER = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
export const UNSHARE_FLAGS: readonly string[] = [...USER, "--mount", "--pid", "--fork", "--kill-child"];

/** Shell words that make a disk in the file `$image`, and mount it on `$folder`. */
export const MOUNTS = {
  // It takes a device alone. Given back now, that is free when the disk is gone.
  exFAT: `truncate -s 64M "$image" && mkfs.exfat "$image" >&2 && device=$(losetup --find --show "$image") &&
    mount.exfat-fuse "$device" "$folder" >&2 && losetup --detach "$device"`,
  NTFS: 'truncate -s 200M "$image" && mkntfs -F -Q -q "$image" >&2 && ntfs-3g -o windows_names,streams_interface=windows,permissions "$image" "$folder" >&2',
} as const;

let answer: boolean | undefined;

/** True when a process of this user can have these disks. */
export function canMountDisks(): boolean {
  answer ??= process.platform === "linux" && Object.values(MOUNTS).every(canMount);
  return answer;
}

function canMount(words: string): boolean {
  const folder = mkdtempSync(join(tmpdir(), "svc-disks-"));
  const script = `image=$0/image folder=$0/disk; mkdir "$folder" && ${words}`;
  const { status } = spawnSync(UNSHARE, [...UNSHARE_FLAGS, "sh", "-c", script, folder], { stdio: "ignore" });
  rmSync(folder, { recursive: true, force: true });
  return status === 0;
}
