import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = new URL("../../mcp-servers/node_modules/", import.meta.url);

/** Path of a reference server's program, e.g. of "memory". */
export function findServer(name: string): string {
  return fileURLToPath(new URL(`@modelcontextprotocol/server-${name}/dist/index.js`, FOLDER));
}

/** Path of GitHub's OpenAPI document. */
export const GITHUB_DOCUMENT = fileURLToPath(new URL("@octokit/openapi/generated/api.github.com.json", FOLDER));

/** True when `npm run mcp-servers:install` was run. */
export function hasServers(): boolean {
  return existsSync(findServer("everything")) && existsSync(GITHUB_DOCUMENT);
}
