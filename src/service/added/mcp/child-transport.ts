import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import {
  type JSONRPCMessage,
  ReadBuffer,
  SdkError,
  SdkErrorCode,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import spawn from "cross-spawn";
import { forgetGroup, watchGroup } from "./group-watch.ts";

/** How long a server has to end after its input has ended, and again after it was asked to; milliseconds. */
const END_MS = 2_000;

/** The program to start. */
interface ChildProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Takes what it writes to standard error. */
  onComplaint(text: string): void;
}

/**
 * An MCP server that is started here and spoken to over its input and output. It leads a group of processes: with it ends
 * everything it has started, as programs that start the server proper (npx, shells) do; also when this process is killed.
 */
export class ChildTransport implements Transport {
  readonly #program: ChildProgram;
  readonly #buffer = new ReadBuffer();
  #child: ChildProcess | undefined;
  #closed: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(program: ChildProgram) {
    this.#program = program;
  }

  async start(): Promise<void> {
    const { command, args, cwd, env, onComplaint } = this.#program;
    const child = spawn(command, [...args], {
      env,
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: ["pipe", "pipe", "pipe"],
      ...(cwd === undefined ? {} : { cwd }),
    });
    this.#child = child;
    this.#closed = new Promise((resolve) => child.once("close", resolve));
    child.stdin?.on("error", (error) => this.onerror?.(error));
    child.stdout?.on("data", (bytes: Buffer) => this.#read(bytes));
    child.stderr?.on("data", (bytes: Buffer) => onComplaint(bytes.toString("utf8")));
    child.once("close", () => {
      this.#signal("SIGKILL");
      this.#child = undefined;
      if (child.pid !== undefined) forgetGroup(child.pid);
      this.onclose?.();
    });
    if (child.pid !== undefined) watchGroup(child.pid);
    await once(child, "spawn");
    child.on("error", (error) => this.onerror?.(error));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin;
    if (input?.writable !== true) throw new SdkError(SdkErrorCode.NotConnected, "Not connected");
    if (!input.write(serializeMessage(message))) await Promise.race([once(input, "drain"), this.#closed]);
  }

  /** Resolves when nothing of it runs any more. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    if (this.#child?.pid === undefined) return;
    this.#child.stdin?.end();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (await this.#hasClosed()) return;
      this.#signal(signal);
    }
    await this.#hasClosed();
  }

  async #hasClosed(): Promise<boolean> {
    const end = new AbortController();
    const late = delay(END_MS, false, { signal: end.signal, ref: false }).catch(() => false);
    const hasClosed = await Promise.race([this.#closed.then(() => true), late]);
    end.abort();
    return hasClosed;
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child ?? {};
    if (pid === undefined) return;
    try {
      process.kill(process.platform === "win32" ? pid : -pid, signal);
    } catch {
      // Nothing of it runs any more.
    }
  }

  #read(bytes: Buffer): void {
    try {
      this.#buffer.append(bytes);
    } catch (error) {
      // The line exceeds the limit: later bytes cannot be parsed.
      this.#fail(error);
      void this.close();
      return;
    }
    while (this.#readOne());
  }

  /** False when there is no whole message left. */
  #readOne(): boolean {
    try {
      const message = this.#buffer.readMessage();
      if (message !== null) this.onmessage?.(message);
      return message !== null;
    } catch (error) {
      this.#fail(error);
      return true;
    }
  }

  #fail(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error("The server sent something odd.", { cause: error }));
  }
}
