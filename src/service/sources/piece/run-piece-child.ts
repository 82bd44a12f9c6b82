import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { readJsonLines } from "./child/read-json-lines.ts";
import { type PieceKept, type PieceMessage, type PieceOrder, pieceMessageSchema } from "./piece-messages.ts";

/** What a child may use besides its order. */
interface ChildPlace {
  /** Folder the package is installed in, as `realpath` gives it; readable. */
  readonly installed: string;
  /** Empty folder of this one call, as `realpath` gives it; readable and writable. */
  readonly folder: string;
  /** Ends the child. */
  readonly signal: AbortSignal;
  /** Keeps a file of the working folder; resolves with the text that stands for it. */
  keep?(file: { file: string; name: string }): Promise<string>;
}

/** How a child ended. */
export type PieceAnswer =
  | Exclude<PieceMessage, { type: "keep" }>
  /** It ended without an answer, or gave one that cannot be read. */
  | { readonly type: "died"; readonly words: string };

const HEAP_MB = 256;
// This file's own ending tells whether sources or the built package run.
const SCRIPT = fileURLToPath(
  new URL(`child/run-child${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url),
);
/** Our own code that the child runs, and the file that says how it is to be read. */
const READABLE = [
  dirname(SCRIPT),
  fileURLToPath(new URL("../../fetch", import.meta.url)),
  fileURLToPath(new URL("../../../../package.json", import.meta.url)),
];

/**
 * Carries out one order in a process of its own, which sees no environment, no file but the package and its working
 * folder, and can start no other process. Rejects with the signal's reason.
 */
export async function runPieceChild(order: PieceOrder, place: ChildPlace): Promise<PieceAnswer> {
  place.signal.throwIfAborted();
  const child = fork(SCRIPT, [], {
    execArgv: listFlags(place),
    env: {},
    cwd: place.folder,
    stdio: ["pipe", "ignore", "ignore", "pipe", "ipc"],
  });
  // Nobody listens at the channel of `fork`: it would collect whatever the piece writes there, without any bound.
  if (child.connected) child.disconnect();
  const ended = once(child, "exit").catch(() => {});
  const kill = () => child.kill("SIGKILL");
  place.signal.addEventListener("abort", kill, { once: true });
  try {
    const answer = await converse(child, order, place);
    place.signal.throwIfAborted();
    return answer;
  } finally {
    place.signal.removeEventListener("abort", kill);
    kill();
    // Its folder is removed next.
    await ended;
  }
}

function listFlags({ installed, folder }: ChildPlace): string[] {
  const readable = [...READABLE, installed, folder].map((path) => `--allow-fs-read=${path}`);
  return [
    "--permission",
    ...readable,
    `--allow-fs-write=${folder}`,
    `--max-old-space-size=${HEAP_MB}`,
    "--no-warnings",
  ];
}

function converse(child: ChildProcess, order: PieceOrder, { keep }: ChildPlace): Promise<PieceAnswer> {
  const { promise, resolve } = Promise.withResolvers<PieceAnswer>();
  const die = (words: string) => resolve({ type: "died", words });
  child.once("error", () => die("Its process cannot be started."));
  // A process that could not be started, or has ended, tells so by its own event.
  child.stdin?.on("error", () => {});
  const tell = (said: PieceOrder | PieceKept) => child.stdin?.write(`${JSON.stringify(said)}\n`);
  const answers = child.stdio[3];
  child.once("exit", (_code, signal) => {
    const end = () => die(signal === "SIGABRT" ? "It ran out of memory." : "Its process ended.");
    // What it said last may still be in the pipe. No "close" comes from a child whose channel was left.
    if (answers instanceof Readable && !answers.closed) answers.once("close", end);
    else end();
  });
  if (answers instanceof Readable)
    readJsonLines(answers, (said) => {
      const parsed = pieceMessageSchema.safeParse(said);
      if (!parsed.success) die("Its process said something that cannot be read.");
      else if (parsed.data.type !== "keep") resolve(parsed.data);
      else {
        const { file, name } = parsed.data;
        const kept = keep === undefined ? Promise.reject(new Error("Files cannot be kept.")) : keep({ file, name });
        kept.then(
          (text) => tell({ file, kept: text }),
          () => die("A file of it cannot be kept."),
        );
      }
    });
  tell(order);
  return promise;
}
