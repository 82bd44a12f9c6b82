import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);
const AT_MOST = { maxBuffer: 64 * 1024 * 1024 };

/** A package whose test data are read. Of Debian either the source or what is installed; the release is that of the source. */
export type Suite = { readonly npm: string } | { readonly debian: string; readonly release?: string };

export function nameSuite(suite: Suite): string {
  return "npm" in suite ? `npm ${suite.npm}` : `Debian ${suite.debian}`;
}

/** Brings a package into a folder below `home`, once; undefined where this machine cannot have it. */
export async function fetchSuite(suite: Suite, home: string): Promise<string | undefined> {
  const folder = join(home, nameSuite(suite).replaceAll(/[^\w.-]+/g, "_"));
  if (existsSync(join(folder, ".done"))) return folder;
  await mkdir(folder, { recursive: true });
  try {
    if ("npm" in suite) await fetchNpm(suite, folder);
    else if (suite.release === undefined) await fetchInstalled(suite.debian, folder);
    else await fetchSource(suite.debian, suite.release, folder);
  } catch (error) {
    const [line = ""] = String(error instanceof Error && "stderr" in error ? error.stderr : error).split("\n");
    console.error(`${nameSuite(suite)} cannot be had: ${line.slice(0, 200)}`);
    return undefined;
  }
  await writeFile(join(folder, ".done"), "");
  return folder;
}

async function fetchNpm({ npm }: { npm: string }, folder: string): Promise<void> {
  const { stdout } = await execute("npm", ["pack", "--silent", npm], { cwd: folder });
  await execute("tar", ["xzf", stdout.trim().split("\n").at(-1) ?? ""], { cwd: folder });
}

/** A folder in which the packages are installed that read the same files. */
export async function fetchReaders(names: readonly string[], home: string): Promise<string> {
  const folder = join(home, "readers");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{"private":true}');
  const quiet = ["--silent", "--ignore-scripts", "--no-audit", "--no-fund"];
  await execute("npm", ["install", ...quiet, ...names], { cwd: folder });
  return folder;
}

async function fetchInstalled(name: string, folder: string): Promise<void> {
  await execute("apt-get", ["download", "-q", name], { cwd: folder });
  const file = (await readdir(folder)).find((one) => one.endsWith(".deb")) ?? "";
  await execute("dpkg", ["-x", file, "."], { cwd: folder });
}

/** With lists of its own: most machines have none of sources. */
async function fetchSource(name: string, release: string, folder: string): Promise<void> {
  const apt = join(folder, "..", `apt-${release}`);
  const list = join(apt, "sources.list");
  const set = { "Etc::sourcelist": list, "Etc::sourceparts": "/dev/null", "State::lists": join(apt, "lists") };
  const options = Object.entries({ ...set, Cache: join(apt, "cache") }).flatMap(([key, value]) => [
    "-o",
    `Dir::${key}=${value}`,
  ]);
  if (!existsSync(join(apt, ".done"))) {
    const known = "/etc/apt/sources.list.d/debian.sources";
    const [, mirror] = /^URIs:\s*(\S+)/m.exec(await readFile(known, "utf8")) ?? [];
    if (mirror === undefined) throw new Error("there is no mirror of Debian");
    for (const part of ["lists/partial", "cache/archives/partial"]) await mkdir(join(apt, part), { recursive: true });
    const key = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]";
    await writeFile(list, `deb-src ${key} ${mirror} ${release} main\n`);
    await execute("apt-get", [...options, "update", "-q"], AT_MOST);
    await writeFile(join(apt, ".done"), "");
  }
  // What Debian changed of it may be missing on a mirror: the tests are in the original.
  await execute("apt-get", [...options, "source", "--download-only", "-qq", name], { cwd: folder }).catch(
    () => undefined,
  );
  const file = (await readdir(folder)).find((one) => /\.orig\.tar\.\wz$/.test(one));
  if (file === undefined) throw new Error("its source is not on the mirror");
  await execute("tar", ["xf", file], { cwd: folder });
}

/** The files below a folder whose names end so, in an order that does not change. */
export async function listFiles(folder: string, ending: RegExp): Promise<string[]> {
  const all = await readdir(folder, { recursive: true, withFileTypes: true });
  return all
    .filter((one) => one.isFile() && ending.test(one.name))
    .map((one) => join(one.parentPath, one.name))
    .toSorted();
}
