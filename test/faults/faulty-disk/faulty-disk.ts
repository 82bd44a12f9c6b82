import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { type FileHandle, mkdtemp, open, realpath, rm } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startTestService } from "../../../src/testing.ts";
import { findFreePort } from "../../service/free-port.ts";

const BIN = fileURLToPath(new URL("../../../src/bin.ts", import.meta.url));
const SOURCE = fileURLToPath(new URL("faulty-disk.c", import.meta.url));
/** Places of the numbers in the control file; the folder stands behind them. */
const FIELDS = ["at", "errno", "flushes", "seen", "fired"] as const;
const FOLDER_AT = FIELDS.length * 4;
const CONTROL_BYTES = 8192;

/** The name of an error of the system, such as `EIO`. */
export type ErrorName = keyof typeof constants.errno;

/** A service in a process of its own whose disk fails when it is told to. */
export class FaultyDisk {
  readonly service: { readonly url: string; readonly apiKey: string };
  readonly dataDir: string;
  readonly #process: ChildProcess;
  readonly #control: FileHandle;
  readonly #scratch: string;

  private constructor(parts: {
    service: FaultyDisk["service"];
    dataDir: string;
    process: ChildProcess;
    control: FileHandle;
    scratch: string;
  }) {
    this.service = parts.service;
    this.dataDir = parts.dataDir;
    this.#process = parts.process;
    this.#control = parts.control;
    this.#scratch = parts.scratch;
  }

  /** Call `close` afterwards. */
  static async start(): Promise<FaultyDisk> {
    const scratch = await realpath(await mkdtemp(join(tmpdir(), "svc-faulty-disk-")));
    const [shim, controlFile, dataDir] = ["faulty-disk.so", "control", "data"].map((name) => join(scratch, name));
    execFileSync("gcc", ["-shared", "-fPIC", "-o", shim!, SOURCE, "-ldl"]);
    const control = await open(controlFile!, "w+");
    await control.write(Buffer.alloc(CONTROL_BYTES));
    const port = await findFreePort();
    const first = await startTestService({ dataDir: dataDir!, port });
    const service = { url: first.url, apiKey: first.apiKey };
    await first.close();
    const process = await serve(["--port", String(port), "--data", dataDir!], { shim: shim!, control: controlFile! });
    return new FaultyDisk({ service, dataDir: dataDir!, process, control, scratch });
  }

  /** The `at`th operation below `folder` fails with `error`, counted from 1 and from now on; 0 for none. */
  async failOnce(folder: string, at: number, error: ErrorName): Promise<void> {
    await this.#set(folder, { at, errno: constants.errno[error], flushes: 0 });
  }

  /** Each flush of a folder below `folder` fails. */
  async failFlushes(folder: string, error: ErrorName): Promise<void> {
    await this.#set(folder, { at: 0, errno: constants.errno[error], flushes: 1 });
  }

  /** Operations below the folder since it was told what fails, and whether one did. */
  async look(): Promise<{ readonly seen: number; readonly fired: boolean }> {
    const bytes = Buffer.alloc(FOLDER_AT);
    await this.#control.read(bytes, 0, FOLDER_AT, 0);
    return { seen: bytes.readInt32LE(12), fired: bytes.readInt32LE(16) === 1 };
  }

  async #set(folder: string, o: { at: number; errno: number; flushes: number }): Promise<void> {
    const bytes = Buffer.alloc(CONTROL_BYTES);
    for (const [index, value] of [o.at, o.errno, o.flushes, 0, 0].entries()) bytes.writeInt32LE(value, index * 4);
    bytes.write(folder, FOLDER_AT, "utf8");
    await this.#control.write(bytes, 0, bytes.length, 0);
  }

  async close(): Promise<void> {
    this.#process.kill("SIGKILL");
    if (this.#process.exitCode === null && this.#process.signalCode === null) await once(this.#process, "exit");
    await this.#control.close();
    await rm(this.#scratch, { recursive: true, force: true });
  }
}

async function serve(args: readonly string[], files: { shim: string; control: string }): Promise<ChildProcess> {
  const served = spawn(process.execPath, [BIN, "serve", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, LD_PRELOAD: files.shim, FAULTY_DISK: files.control },
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  served.stdout?.setEncoding("utf8").on("data", (text: string) => text.includes("Listening on") && resolve());
  served.once("exit", (status) => reject(new Error(`svc serve ended with ${status}`)));
  await promise;
  return served;
}
