import { existsSync } from "node:fs";
import { cp, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { InstalledPackage } from "../package/install-packed.ts";
import { PACKAGE_ROOT, readPackage } from "../package/read-package.ts";

const PINNED = join(PACKAGE_ROOT, "test/consumers/node_modules");
const OWN = join(PACKAGE_ROOT, "node_modules");

/** Folder of the published schemas of software bills. */
export const BILL_SCHEMAS = join(PINNED, "@cyclonedx/cyclonedx-library/res/schema");

/** Compilers by the major version users name. */
export const COMPILERS: Readonly<Record<string, string>> = {
  "5.9": join(PINNED, "typescript-5/bin/tsc"),
  "6": join(PINNED, "typescript-6/bin/tsc"),
  "7": join(PINNED, "typescript-7/bin/tsc"),
};

/** The oldest Node that `engines` admits, the one the project is made with, and the newest line. */
export const NODES: Readonly<Record<string, string>> = {
  "22.19": join(PINNED, "node-22/bin/node"),
  "24": join(OWN, "node/bin/node"),
  "26": join(PINNED, "node-26/bin/node"),
};

/** True when `npm run consumers:install` has been run. */
export function hasConsumers(): boolean {
  const others = ["@opentelemetry/sdk-trace-node", "standardwebhooks", "webpack", "next"].map((name) =>
    join(PINNED, name),
  );
  return [...Object.values(COMPILERS), BILL_SCHEMAS, ...others].every((file) => existsSync(file));
}

/** True when it has been run where npm has these Nodes: on Linux, x64. */
export function hasNodes(): boolean {
  return Object.values(NODES).every((file) => existsSync(file));
}

/** What runs JavaScript and is not Node, as the words before a file. */
export const ENGINES: Readonly<Record<string, readonly [string, ...string[]]>> = {
  "Deno 2.9": [join(PINNED, "deno-linux/deno"), "run", "--allow-all", "--quiet"],
  "Bun 1.4": [join(PINNED, "bun-linux/bin/bun")],
};

/** True when it has been run where npm has these engines: on Linux, x64. */
export function hasEngines(): boolean {
  return Object.values(ENGINES).every(([program]) => existsSync(program));
}

/** Which optional peers a project has besides the package. */
export type Peers = "no peers" | "core 1.1 alone" | "oldest peers" | "newest peers";

/** Their oldest and newest versions are what `npm run test:peers` is for. */
const OTHER_PEERS = { ai: join(OWN, "ai"), "@openai/agents": join(OWN, "@openai/agents") };

const PEERS: Readonly<Record<Peers, Readonly<Record<string, string>>>> = {
  "no peers": {},
  "core 1.1 alone": { "@langchain/core": join(PINNED, "core-alone") },
  "oldest peers": {
    ...OTHER_PEERS,
    "@langchain/core": join(PINNED, "@langchain/core"),
    "@langchain/langgraph": join(PINNED, "@langchain/langgraph"),
    langchain: join(PINNED, "langchain"),
  },
  "newest peers": {
    ...OTHER_PEERS,
    "@langchain/core": join(OWN, "@langchain/core"),
    "@langchain/langgraph": join(OWN, "@langchain/langgraph"),
    langchain: join(OWN, "langchain"),
  },
};

/**
 * A project of its own beside the installed one: the package is copied, so that it finds the peers of this project,
 * and everything else is linked. `@types/node` is there as well, as every TypeScript project for Node has it.
 */
export async function createConsumer({ consumer, installed }: InstalledPackage, peers: Peers): Promise<string> {
  const folder = join(dirname(consumer), peers.replaceAll(" ", "-"));
  const modules = join(folder, "node_modules");
  await mkdir(modules, { recursive: true });
  await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  await cp(installed, join(modules, readPackage().name), { recursive: true });
  for (const name of await listPackages(join(consumer, "node_modules"))) {
    if (name !== readPackage().name) await link(join(consumer, "node_modules", name), join(modules, name));
  }
  for (const [name, place] of Object.entries(PEERS[peers])) await link(place, join(modules, name));
  await link(join(PINNED, "@types/node"), join(modules, "@types/node"));
  return folder;
}

async function link(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await symlink(from, to);
}

async function listPackages(modules: string): Promise<string[]> {
  const names = (await readdir(modules)).filter((name) => !name.startsWith("."));
  const scoped = names.map(async (name) => {
    if (!name.startsWith("@")) return [name];
    return (await readdir(join(modules, name))).map((inner) => `${name}/${inner}`);
  });
  return (await Promise.all(scoped)).flat();
}
