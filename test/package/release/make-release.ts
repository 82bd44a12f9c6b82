import { createHash } from "node:crypto";
import { cp, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { BundledPackage } from "../bundle.ts";
import { listBiggest } from "../list-biggest.ts";
import { packCheckout } from "../pack-checkout.ts";
import { OPENCLAW_PACKAGE, packForOpenClaw } from "../pack-for-openclaw.ts";
import { PACKAGE_ROOT, readPackage } from "../read-package.ts";
import { runCommand } from "../run-command.ts";
import { listBundledPackages, listRuntimePackages } from "./runtime-packages.ts";
import { createBill, findBillProblems, readWholeBill } from "./software-bill.ts";

/** One tarball as it would be published. */
interface Tarball {
  readonly name: string;
  /** What takes most room in it; empty when nobody asked. */
  readonly biggest: readonly string[];
  readonly path: string;
  readonly dependencies: Readonly<Record<string, string>>;
  /** Packages that are part of its files. */
  readonly bundled: readonly BundledPackage[];
}

/** What a release consists of, and why it is none yet. */
export interface Release {
  /** Names of the files in the folder. */
  readonly files: readonly string[];
  readonly problems: readonly string[];
  /** How big each tarball is, and what in it. */
  readonly sizes: readonly string[];
}

/**
 * Builds and packs both packages twice, which has to give the same bytes, lets publint and attw judge the tarballs, and
 * leaves tarballs, software bills and `SHA256SUMS` in `folder`.
 *
 * @param work empty folder for everything in between
 * @param timestamp of the commit, ISO 8601
 */
export async function makeRelease(folder: string, work: string, timestamp: string): Promise<Release> {
  const first = await packBoth(join(work, "first"));
  const second = await packBoth(join(work, "second"));
  const problems: string[] = [];
  const files: string[] = [];
  const sizes: string[] = [];
  const whole = await readWholeBill();
  for (const [index, tarball] of first.entries()) {
    const again = second[index];
    if (again === undefined || (await hash(tarball.path)) !== (await hash(again.path))) {
      problems.push(`${basename(tarball.path)} has other bytes when it is built again.`);
    }
    problems.push(...(await judge(tarball)));
    const packages = [
      ...listRuntimePackages(Object.keys(tarball.dependencies)),
      ...listBundledPackages(tarball.bundled),
    ];
    const bill = createBill(whole, { ...tarball, version: readPackage().version }, timestamp);
    problems.push(
      ...findBillProblems(bill, packages).map((problem) => `The software bill of ${tarball.name}: ${problem}.`),
    );
    const name = basename(tarball.path);
    await cp(tarball.path, join(folder, name));
    sizes.push(`${name}: ${((await stat(tarball.path)).size / 1000).toFixed(0)} kB packed`, ...tarball.biggest);
    await writeFile(join(folder, `${name}.cdx.json`), `${JSON.stringify(bill, undefined, 2)}\n`);
    files.push(name, `${name}.cdx.json`);
  }
  const sums = await Promise.all(files.map(async (name) => `${await hash(join(folder, name))}  ${name}\n`));
  await writeFile(join(folder, "SHA256SUMS"), sums.join(""));
  return { files: [...files, "SHA256SUMS"], problems, sizes };
}

async function packBoth(work: string): Promise<readonly Tarball[]> {
  await mkdir(work, { recursive: true });
  const { name, dependencies } = readPackage();
  const packed = await packCheckout(work);
  const { path, files, bundled } = await packForOpenClaw(join(work, "copy"), work);
  return [
    {
      name,
      path: join(work, packed.filename),
      biggest: listBiggest(packed.files),
      dependencies,
      bundled: packed.bundled,
    },
    { name: OPENCLAW_PACKAGE, path, biggest: listBiggest(files), dependencies: {}, bundled },
  ];
}

/** What publint says of a tarball, and attw of the one that has declarations. */
async function judge({ name, path }: Tarball): Promise<string[]> {
  const checks = [["publint", "run", path, "--strict"]];
  if (name !== OPENCLAW_PACKAGE) checks.push(["attw", path, "--profile", "esm-only"]);
  const said = checks.map(async ([tool = "", ...args]) => {
    const { code, stdout, stderr } = await runCommand("npx", ["--no-install", tool, ...args], PACKAGE_ROOT);
    return code === 0 ? [] : [`${tool} refuses ${basename(path)}:\n${stdout}${stderr}`];
  });
  return (await Promise.all(said)).flat();
}

async function hash(path: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
}
