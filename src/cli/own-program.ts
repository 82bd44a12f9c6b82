import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { SvcError } from "../shared/errors.ts";
import type { Program } from "./mcp-client-files.ts";

/** Folders of npx and its like, emptied without notice. */
const FLEETING = /[\\/](_npx|dlx|dlx-[^\\/]*|bunx-[^\\/]*)[\\/]/;
/** It runs nothing that was not allowed in the command. */
const DENO = /(^|[\\/])deno(\.exe)?$/;
/** Variables that decide where the key, the files and the service are. None holds a secret. */
const KEPT = [
  "SVC_HOME",
  "SVC_MEDIA_ROOTS",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_STATE_HOME",
  "XDG_CACHE_HOME",
  "NODE_EXTRA_CA_CERTS",
];

/**
 * `svc mcp` as another program starts it: this engine and this script by their absolute paths, because a desktop program
 * has another PATH than a terminal.
 *
 * @throws SvcError `unsupported` when the script lies where it may be gone tomorrow
 */
export function describeOwnProgram({
  node,
  script,
  env,
}: {
  readonly node: string;
  readonly script: string;
  readonly env: NodeJS.ProcessEnv;
}): Program {
  if (FLEETING.test(script) || FLEETING.test(findReal(script))) {
    throw new SvcError("unsupported", "svc runs from a cache here, which may be emptied at any time.", {
      hint: 'Install the package for good, as its README says, then run "svc install" again. "svc install --remote" needs no program on this machine.',
    });
  }
  const kept = KEPT.flatMap((name) => (env[name] ? [[name, env[name]]] : []));
  return {
    command: findLasting(node),
    args: [...(DENO.test(node) ? ["run", "--allow-all", "--quiet"] : []), findLasting(resolve(script)), "mcp"],
    ...(kept.length === 0 ? {} : { env: Object.fromEntries(kept) }),
  };
}

/** Folders of one version, which the next one removes, and the links that stay: of Homebrew, of pnpm. */
const LINKED: readonly (readonly [version: RegExp, link: string])[] = [
  [/\/Cellar\/([^/]+)\/[^/]+\//, "/opt/$1/"],
  [/([\\/])\.pnpm[\\/][^\\/]+[\\/]node_modules[\\/]/, "$1"],
];

/** Where the file lies: managers of Node make links for one shell, or for the version that is chosen just now. */
function findLasting(path: string): string {
  const real = findReal(path);
  const links = LINKED.map(([version, link]) => real.replace(version, link));
  return links.find((link) => link !== real && existsSync(link)) ?? real;
}

function findReal(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
