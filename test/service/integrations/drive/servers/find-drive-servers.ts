import { existsSync } from "node:fs";
import { join } from "node:path";

/** The program of an S3 store, installed by `npm run drive-servers:install`. */
export const FAUXQS = join(
  new URL("../../../../drive-servers", import.meta.url).pathname,
  "node_modules/fauxqs/dist/cli.js",
);

/** Where Debian puts the Apache server, with its module for WebDAV. */
export const APACHE = { program: "/usr/sbin/apache2", modules: "/usr/lib/apache2/modules" };

/** Where Debian puts rclone, which serves WebDAV too. */
export const RCLONE = "/usr/bin/rclone";

/** True when all servers are there. */
export function hasDriveServers(): boolean {
  return [FAUXQS, APACHE.program, RCLONE].every((path) => existsSync(path));
}
