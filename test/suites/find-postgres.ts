import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Where Debian, Fedora and macOS put the server's programs; `SVC_POSTGRES_BIN` overrides. */
function listFolders(): string[] {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const wanted = process.env.SVC_POSTGRES_BIN;
  return [
    ...(wanted ? [wanted] : []),
    ...versions.map((version) => join(debian, version, "bin")),
    "/usr/bin",
    "/opt/homebrew/opt/postgresql/bin",
  ];
}

/** Folder of `initdb` and `postgres` on this machine, or undefined. */
export function findPostgres(): string | undefined {
  return listFolders().find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
}
