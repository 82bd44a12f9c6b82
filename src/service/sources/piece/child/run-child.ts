/** The process a piece lives in: takes one order from its standard input, carries it out, answers and ends. */
import { rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Socket } from "node:net";
import { join } from "node:path";
import type { PieceFailure, PieceKept, PieceMessage, PieceOrder, PieceTask } from "../piece-messages.ts";
import { createContext } from "./create-context.ts";
import { describePiece, describeProperties, findPiece, isObject, type LoadedPiece } from "./describe-piece.ts";
import { guardNetwork } from "./guard-network.ts";
import { prepareArgs, showOption } from "./prepare-args.ts";
import { readFailure } from "./read-failure.ts";
import { readJsonLines } from "./read-json-lines.ts";
import { validateAuth } from "./validate-auth.ts";
import { HttpWatch } from "./watch-http.ts";

type CallTask = Exclude<PieceTask, { do: "describe" | "validate" }>;

const folder = process.cwd();
const watch = new HttpWatch(() => fail(undefined));
/** Files the service has been asked to keep, until it has. */
const waiting = new Map<string, (kept: string) => void>();
/** Longest answer, characters. */
const MAX_ANSWER = 10 * 1024 * 1024;
const answers = new Socket({ fd: 3, readable: false, writable: true });
let isOver = false;
let files = 0;

let isOrdered = false;
readJsonLines(process.stdin, (said) => {
  if (isOrdered) {
    const { file, kept } = said as PieceKept;
    waiting.get(file)?.(kept);
  } else {
    isOrdered = true;
    void carryOut(said as PieceOrder).catch(fail);
  }
});
// The service has ended.
process.stdin.once("end", () => {
  try {
    rmSync(folder, { recursive: true, force: true });
  } finally {
    process.exit();
  }
});
process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);

async function carryOut({ entry, network, task }: PieceOrder): Promise<void> {
  guardNetwork(network);
  watch.start();
  const loaded = load(entry);
  if (typeof loaded === "string") return finish(broken(loaded));
  if (task.do === "describe") return finish({ type: "described", piece: describePiece(loaded) });
  if (task.do === "validate") {
    const problem = await validateAuth(loaded, task);
    return problem === undefined ? finish({ type: "done", json: "true" }) : fail(new Error(problem));
  }
  const action = loaded.actions.get(task.action);
  if (action === undefined) return finish(broken("The piece does not have this action."));
  const value = await (task.do === "run" ? run(action, task) : listOptions(action, task));
  if (saysFailed(value) && (watch.exchanges.at(-1)?.status ?? 0) >= 400) {
    return fail(new Error(String(value.error ?? value.message ?? "")));
  }
  const json = JSON.stringify(value ?? null);
  if (json.length > MAX_ANSWER) throw new Error(`The answer is longer than ${MAX_ANSWER} characters: ask for less.`);
  finish({ type: "done", json });
}

function load(entry: string): LoadedPiece | string {
  try {
    return findPiece(createRequire(join(entry, "package.json"))(entry));
  } catch (error) {
    return error instanceof Error ? error.message : "The package cannot be loaded.";
  }
}

async function run(action: Record<string, unknown>, { auth, args }: CallTask): Promise<unknown> {
  if (typeof action.run !== "function") throw new Error("The action cannot be run.");
  const propsValue = prepareArgs(action.props, args, folder);
  return await action.run(createContext({ auth, propsValue, keep }));
}

/** What a list offers, or which fields a field with changing fields has. */
async function listOptions(action: Record<string, unknown>, { auth, args, property }: CallTask): Promise<unknown> {
  const field = isObject(action.props) ? action.props[property] : undefined;
  if (!isObject(field)) throw new Error("The action has no such field.");
  const propsValue = prepareArgs(action.props, args, folder);
  const context = { ...createContext({ auth, propsValue, keep }), searchValue: args.search, input: propsValue };
  const find = field.type === "DYNAMIC" ? field.props : field.options;
  if (typeof find !== "function") throw new Error("The field takes no options.");
  const found: unknown = await find({ ...propsValue, auth }, context);
  if (field.type === "DYNAMIC") return { fields: describeProperties(found) };
  const { options, placeholder, disabled } = isObject(found) ? found : {};
  const listed = Array.isArray(options) ? options.filter(isObject) : [];
  return {
    options: listed.map(({ label, value }) => ({ label, value: showOption(value) })),
    ...(disabled === true && { note: placeholder ?? "Other fields have to be given first." }),
  };
}

async function keep({ fileName, data }: { fileName: string; data: Uint8Array }): Promise<string> {
  files += 1;
  const file = `out-${files}`;
  writeFileSync(join(folder, file), data);
  const { promise, resolve } = Promise.withResolvers<string>();
  waiting.set(file, resolve);
  send({ type: "keep", file, name: String(fileName) });
  return promise;
}

/** Some pieces catch every failure and return it. */
function saysFailed(value: unknown): value is Record<string, unknown> {
  return isObject(value) && (value.success === false || value.ok === false);
}

function fail(error: unknown): void {
  finish(readFailure(error, watch.exchanges));
}

function broken(words: string): PieceFailure {
  return { type: "failed", kind: "broken", words, mayHaveActed: false };
}

function finish(message: PieceMessage): void {
  if (isOver) return;
  isOver = true;
  send(message, () => process.exit());
}

function send(message: PieceMessage, done?: () => void): void {
  answers.write(`${JSON.stringify(message)}\n`, () => done?.());
}
