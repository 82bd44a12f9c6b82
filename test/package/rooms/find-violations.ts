import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { KNOWN_UPWARD, ROOMS, SERVICE_COMMON, SERVICE_FLOORS } from "./rooms.ts";

/** Each form of an import: `import … from`, `export … from`, `import "x"`, `import("x")` and `typeof import("x")`. */
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"']+)["']/g;

/** One import that the table of rooms forbids. */
export interface Violation {
  /** Path from the package, such as `src/shared/wire/tool.ts`. */
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** Reads every file below `root/src`, and returns the imports that the table of rooms forbids. */
export function findViolations(root: string, known: readonly string[] = KNOWN_UPWARD): Violation[] {
  const source = join(root, "src");
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
  return files.sort().flatMap((from) => {
    const text = readFileSync(join(source, from), "utf8");
    return [...text.matchAll(IMPORT)].flatMap((match) => {
      const to = relative(source, resolve(source, dirname(from), match[1] ?? ""));
      const message = refuse(from, to);
      if (message === undefined || known.includes(`${from} -> ${to}`)) return [];
      return [{ file: `src/${from}`, line: text.slice(0, match.index).split("\n").length, message }];
    });
  });
}

/** Why `from` may not import `to` (paths below `src`), or undefined when it may. */
function refuse(from: string, to: string): string | undefined {
  const room = findRoom(from);
  const isAllowed = room === undefined || [room.path, ...room.may].some((allowed) => isInside(to, allowed));
  if (isAllowed) return refuseUpward(from, to);
  return `Room "${room.path}" may import only: ${room.may.join(", ") || "nothing of ours"}. This is ${to}.`;
}

/** The room a file belongs to; `cli` and the doors belong to none, and may import everything. */
function findRoom(file: string): { path: string; may: readonly string[] } | undefined {
  for (const [name, may] of Object.entries(ROOMS)) {
    const depth = name.split("/").length;
    const path = file.split("/").slice(0, depth).join("/");
    if (path !== file && (path === name || (name.endsWith("/*") && path.startsWith(name.slice(0, -1)))))
      return { path, may };
  }
  return undefined;
}

function refuseUpward(from: string, to: string): string | undefined {
  const [room, ...inside] = findFloor(from);
  const [target] = findFloor(to);
  if (!from.startsWith("service/") || room === undefined || inside.length === 0 || room === "test-kit")
    return undefined;
  if (target === undefined || SERVICE_COMMON.includes(target)) return undefined;
  const [here, there] = [SERVICE_FLOORS.indexOf(room), SERVICE_FLOORS.indexOf(target)];
  if (here === -1) return `"${room}" has no floor: add it to the table.`;
  if (there !== -1 && there <= here) return undefined;
  return `Inside the service, "${room}" may import only the floors below it. This is ${to}.`;
}

/** The path below the service, in parts; of an app, with the wing as its floor. Empty for what has no floor. */
function findFloor(path: string): string[] {
  const [wing, ...rest] = path.split("/");
  if (wing === "service") return rest;
  return wing === "apps" ? ["apps", ...rest] : [];
}

const isInside = (path: string, place: string) => path === place || path.startsWith(`${place}/`);
