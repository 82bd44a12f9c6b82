import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  SdkError,
  SdkErrorCode,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import spawn from "cross-spawn";
import { parseJson } from "../../shared/base/json.ts";
import { LineReader } from "../../shared/base/line-reader.ts";
import { forgetGroup, watchGroup } from "./group-watch.ts";
import { createTooLong, MAX_ANSWER } from "./mcp-http-error.ts";

/** How long a server has to end after its input has ended, and again after it was asked to; milliseconds. */
const END_MS = 2_000;

/** A line of so many bytes is not waited for any more. */
const ENDLESS = 8 * MAX_ANSWER;
/** The id of an answer that ends with it. */
const ID_AT_START = /^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*(\d{1,9})\s*,/;
const ID_AT_END = /,\s*"id"\s*:\s*(\d{1,9})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

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
  readonly #lines = new LineReader({
    max: MAX_ANSWER,
    onLine: (text) => this.#readLine(text),
    onTooLong: (start, end) => this.#refuseLong(start, end),
  });
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
    if (await this.#hasClosed()) return;
    // What the server started in a session of its own may hold the pipes for ever.
    for (const stream of this.#child?.stdio ?? []) stream?.destroy();
    this.#child?.unref();
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
    if (process.platform === "win32") endTree(pid);
    else sendSignal(-pid, signal);
  }

  #read(bytes: Buffer): void {
    this.#lines.push(bytes);
    if (this.#lines.pending > ENDLESS) this.#giveUp();
  }

  #giveUp(): void {
    this.#fail(new Error("A message of the server is too long."));
    void this.close();
  }

  #readLine(text: string): void {
    try {
      const value = parseJson(text);
      // What is no JSON is meant for people.
      if (value !== undefined) this.onmessage?.(parseJSONRPCMessage(value));
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Fails the request that the answer is for, and no other. */
  #refuseLong(start: string, end: string): void {
    const id = start.match(ID_AT_START) ?? end.match(ID_AT_END);
    if (id !== null) this.onmessage?.(createTooLong(Number(id[1])));
    else this.#giveUp();
  }

  #fail(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error("The server sent something odd.", { cause: error }));
  }
}

/** To a process, or to a group by its negative number. */
function sendSignal(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch {
    // Nothing of it runs any more.
  }
}

/** Windows has no groups: the shell behind a .cmd would end alone, and what it started would go on. */
function endTree(pid: number): void {
  const child = spawn("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore", windowsHide: true });
  child.on("error", () => sendSignal(pid, "SIGTERM")).unref();
}
