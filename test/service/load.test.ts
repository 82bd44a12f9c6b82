import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** What a start of the service costs is mostly what it loads: most packages wait for the first request that needs them. */

const SRC = new URL("../../src/", import.meta.url);

interface Run {
  /** Names of packages that were loaded. */
  readonly packages: readonly string[];
  /** Paths below `src/` that were loaded. */
  readonly files: readonly string[];
  readonly statuses: readonly number[];
  /** Messages and causes. */
  readonly log: readonly string[];
}

/**
 * Starts a service in a fresh process and asks for each of the paths.
 *
 * @param o.missing end of the address of a file that cannot be loaded
 * @param o.more files below `src/` that are loaded, too
 */
async function run(
  dataDir: string,
  paths: readonly string[],
  { missing = "none", more = [] }: { missing?: string; more?: readonly string[] } = {},
): Promise<Run> {
  const source = `
    import { registerHooks } from "node:module";
    const loaded = [], statuses = [], lines = [];
    registerHooks({
      load(url, context, next) {
        loaded.push(url);
        if (url.endsWith(${JSON.stringify(missing)})) throw new Error("the file is gone");
        return next(url, context);
      },
    });
    const { createService } = await import(${JSON.stringify(new URL("service/create-service.ts", SRC).href)});
    const log = ({ message, cause }) => lines.push(message + " " + cause?.message);
    const service = await createService({ dataDir: ${JSON.stringify(dataDir)}, port: 0, log });
    for (const path of ${JSON.stringify(paths)}) {
      const answer = await fetch(service.url + path);
      await answer.text();
      statuses.push(answer.status);
    }
    for (const path of ${JSON.stringify(more)}) await import(new URL(path, ${JSON.stringify(SRC.href)}));
    console.log(JSON.stringify({ loaded, statuses, log: lines }));
    await service.close();`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", source]);
  const { loaded, statuses, log }: { loaded: string[]; statuses: number[]; log: string[] } = JSON.parse(stdout);
  const packages = loaded.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []);
  const files = loaded.filter((url) => url.startsWith(SRC.href)).map((url) => url.slice(SRC.href.length));
  return { packages: [...new Set(packages)].sort(), files, statuses, log };
}

describe("a start of the service", () => {
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "svc-load-"));
  });
  afterAll(() => rm(dataDir, { recursive: true }));

  it("loads no package that only some requests need", async () => {
    const { packages, files } = await run(dataDir, ["/health", "/api/tools"]);
    expect(packages).toEqual([
      "@cfworker/json-schema",
      "@hono/node-server",
      "hono",
      "kysely",
      "postal-mime",
      "spark-md5",
      "zod",
    ]);
    const rare =
      /(?:^|\/)(pages|build-document|apps\/(mcp|openapi)|vault-notebook|notion-accounts|maildir-box|mail-accounts|mail-parser|stored-agenda|stored-address-books|folder-store|dav-accounts|dav-store|find-dav-server|remote-drives|feed-reader|read-feed|url-files|s3-client|send-note)\b/;
    expect(files.filter((path) => rare.test(path))).toEqual([]);
  });

  it("would be found out: the first page loads the pages", async () => {
    const { files } = await run(dataDir, ["/sign-in"]);
    expect(files).toContain("service/http/pages/sign-in.ts");
  });

  it("loads with pages and added apps nothing that reaches an app", async () => {
    const more = ["apps/mcp/mcp-kind.ts", "apps/openapi/openapi-kind.ts"];
    const { packages, files } = await run(dataDir, ["/sign-in"], { more });
    expect(files).toEqual(expect.arrayContaining(["service/http/pages/known-apps.ts", ...more]));
    expect(packages.filter((name) => /undici|modelcontextprotocol|oauth4webapi|imapflow/.test(name))).toEqual([]);
  });

  it("says in its log what could not be loaded, and goes on", async () => {
    const { statuses, log } = await run(dataDir, ["/sign-in", "/health"], { missing: "/page-app.ts" });
    expect(statuses).toEqual([500, 200]);
    expect(log).toContain("A request failed unexpectedly. the file is gone");
  });
});
