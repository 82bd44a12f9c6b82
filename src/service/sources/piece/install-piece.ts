import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { z } from "zod";
import { SvcError } from "../../../errors.ts";
import { placeOfPieces, removeIfEmpty, removePiece } from "./piece-folders.ts";

/** What to install and where. */
export interface InstallOrder {
  /** Name on npm. */
  readonly package: string;
  /** Exact version, tag or range; default: the latest. */
  readonly version: string | undefined;
  /** Data folder of the service. */
  readonly dataDir: string;
  readonly slug: string;
  /** npm and what it needs are looked for in here: `PATH`, proxies, the registry. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** A piece on this machine. */
export interface InstalledPiece {
  readonly version: string;
  /** What npm checked the package against. */
  readonly integrity: string;
  /** Below the data folder, with `/`. */
  readonly folder: string;
  /** Absolute path of it. */
  readonly path: string;
  /** True when this call made it. */
  readonly isNew: boolean;
}

const NPM_MS = 5 * 60_000;
const COMPLAINT_CHARS = 4_000;
const FLAGS = [
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--save-exact",
  "--no-update-notifier",
  "--loglevel=error",
];

/**
 * Installs a package from npm into the data folder, without running any of its code. A version that is there already
 * stays as it is.
 *
 * @throws SvcError `invalid_config` when there is no npm or no such package; `unreachable` when the registry cannot be
 * reached.
 */
export async function installPiece(order: InstallOrder): Promise<InstalledPiece> {
  const pieces = join(placeOfPieces(order.dataDir), order.slug);
  await mkdir(pieces, { recursive: true, mode: 0o700 });
  const staging = await mkdtemp(join(pieces, "new-"));
  try {
    await writeFile(join(staging, "package.json"), JSON.stringify({ name: "svc-piece", private: true }));
    await runNpm(order, staging);
    const { version, integrity } = await readInstalled(staging, order.package);
    const path = join(pieces, version);
    const known = existsSync(path) ? await readInstalled(path, order.package) : undefined;
    const isNew = known?.integrity !== integrity;
    if (isNew) {
      await removePiece(path);
      await rename(staging, path);
    }
    return { version, integrity, folder: `pieces/${order.slug}/${version}`, path, isNew };
  } finally {
    await rm(staging, { recursive: true, force: true });
    await removeIfEmpty(pieces);
  }
}

/** Takes an installed piece away again. */
export async function uninstallPiece({ path }: InstalledPiece): Promise<void> {
  await removePiece(path);
  await removeIfEmpty(dirname(path));
}

async function runNpm(order: InstallOrder, folder: string): Promise<void> {
  const npm = await findNpm(order.env);
  const spec = `${order.package}@${order.version ?? "latest"}`;
  const signal = AbortSignal.any([order.signal, AbortSignal.timeout(NPM_MS)]);
  const child = fork(npm, ["install", ...FLAGS, "--prefix", folder, spec], {
    cwd: folder,
    env: order.env,
    execArgv: [],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    signal,
  });
  let complaint = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(-COMPLAINT_CHARS);
  });
  const [code] = await once(child, "close").catch((cause) => {
    order.signal.throwIfAborted();
    throw npmMissing(cause);
  });
  if (code !== 0) throw explainNpm(complaint, spec);
}

/** The script of the npm that belongs to the running Node, else of the one on the PATH. */
async function findNpm(env: InstallOrder["env"]): Promise<string> {
  const bin = dirname(process.execPath);
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter).filter((folder) => folder !== "");
  const scripts = [join(bin, "../lib"), ...[bin, ...folders]].map((at) => join(at, "node_modules/npm/bin/npm-cli.js"));
  const script = scripts.find((path) => existsSync(path));
  if (script !== undefined) return script;
  const program = folders.map((folder) => join(folder, "npm")).find((path) => existsSync(path));
  const real = program === undefined ? undefined : await realpath(program);
  // A link to npm's script; anything else is a program of a version manager, which Node cannot run.
  if (real?.endsWith("npm-cli.js")) return real;
  throw npmMissing();
}

function npmMissing(cause?: unknown): SvcError {
  return new SvcError("invalid_config", "npm was not found, and pieces are installed with it.", {
    field: "PATH",
    hint: "Install npm, or put its folder on the PATH; it comes with Node.",
    cause,
  });
}

function explainNpm(complaint: string, spec: string): SvcError {
  const lines = complaint.split("\n").map((line) => line.replace(/^npm (?:error|ERR!)\s*/i, "").trim());
  const code = lines.find((line) => line.startsWith("code "))?.slice("code ".length) ?? "";
  if (code === "E404" || code === "ETARGET" || code === "ENOVERSIONS") {
    return new SvcError("invalid_config", `npm knows no ${spec}.`, {
      field: "piece",
      hint: "Pieces are listed at https://www.activepieces.com/pieces; leave the version out for the latest.",
    });
  }
  const said = lines.find((line) => line !== "" && !/^(?:code|syscall|errno|address|port|A complete log)\b/.test(line));
  if (/^(?:E(?:AI_AGAIN|NOTFOUND|CONN\w+|TIMEDOUT|NETUNREACH|HOSTUNREACH)|ERR_SOCKET_TIMEOUT)$/.test(code)) {
    return new SvcError("unreachable", "The npm registry cannot be reached.", {
      hint: `Check the network and the proxy, then try again. npm said: ${said ?? code}`,
    });
  }
  return new SvcError("invalid_config", `npm could not install ${spec}: ${said ?? "it gave no reason."}`, {
    field: "piece",
    hint: "Correct what npm complains about, then try again.",
  });
}

const lockSchema = z.object({
  packages: z.record(z.string(), z.object({ version: z.string().optional(), integrity: z.string().optional() })),
});

async function readInstalled(folder: string, name: string): Promise<{ version: string; integrity: string }> {
  const lock = lockSchema.safeParse(JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8")));
  const { version, integrity } = lock.data?.packages[`node_modules/${name}`] ?? {};
  if (version !== undefined && integrity !== undefined) return { version, integrity };
  throw new SvcError("invalid_config", `npm did not say what it checked ${name} against.`, {
    field: "piece",
    hint: "Check npm's settings: a lock file is needed.",
  });
}
