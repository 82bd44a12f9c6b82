import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

interface Packed {
  readonly name: string;
  readonly version: string;
  readonly tarball: Buffer;
}

/** An npm registry on loopback that holds the packages in these folders, and an environment in which npm uses it. */
export async function startRegistry(folders: readonly string[]) {
  const cache = await mkdtemp(join(tmpdir(), "svc-registry-"));
  const packed: Packed[] = [];
  for (const folder of folders) packed.push(await pack(folder, cache));
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "").slice(1);
    const tarball = packed.find(({ name }) => path === `${name}.tgz`)?.tarball;
    if (tarball !== undefined) return void response.end(tarball);
    const found = packed.find(({ name }) => path === name);
    response.setHeader("content-type", "application/json").statusCode = found === undefined ? 404 : 200;
    response.end(found === undefined ? "{}" : describe(found, `http://${request.headers.host}`));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    env: {
      ...process.env,
      npm_config_registry: `http://127.0.0.1:${port}/`,
      npm_config_cache: cache,
      npm_config_fetch_retries: "0",
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(cache, { recursive: true, force: true });
    },
  };
}

async function pack(folder: string, cache: string): Promise<Packed> {
  const { name, version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const target = await mkdtemp(join(cache, "packed-"));
  const flags = ["pack", folder, "--pack-destination", target, "--json", "--ignore-scripts", "--cache", cache];
  const { stdout } = await promisify(execFile)("npm", flags, { cwd: cache });
  const [{ filename }] = JSON.parse(stdout);
  return { name, version, tarball: await readFile(join(target, filename)) };
}

function describe({ name, version, tarball }: Packed, origin: string): string {
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const dist = { tarball: `${origin}/${encodeURIComponent(name)}.tgz`, integrity };
  return JSON.stringify({
    name,
    "dist-tags": { latest: version },
    versions: { [version]: { name, version, hasInstallScript: true, dist } },
  });
}
