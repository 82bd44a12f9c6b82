import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = new URL("../../mcp-servers/node_modules/", import.meta.url);

/** Where the packages that these tests use are looked up from. */
export const SERVERS = new URL("../package.json", FOLDER);

/** Path of a program by its package and its place in there. */
export function findProgram(place: string): string {
  return fileURLToPath(new URL(place, FOLDER));
}

const NO_NETWORK = ["unshare", "--map-root-user", "--net"];

/** The words that start a program, without any network where this system can take it away. */
export function startOffline(program: string): string[] {
  const isAble = spawnSync(NO_NETWORK[0] ?? "", [...NO_NETWORK.slice(1), "true"]).status === 0;
  return [...(isAble ? NO_NETWORK : []), process.execPath, program];
}

/** Path of a reference server's program, e.g. of "memory". */
export function findServer(name: string): string {
  return findProgram(`@modelcontextprotocol/server-${name}/dist/index.js`);
}

/** Path of GitHub's OpenAPI document. */
export const GITHUB_DOCUMENT = findProgram("@octokit/openapi/generated/api.github.com.json");

/** True when `npm run mcp-servers:install` was run. */
export function hasServers(): boolean {
  return existsSync(findProgram("time-mcp")) && existsSync(GITHUB_DOCUMENT);
}
