import { existsSync } from "node:fs";

/** Where Debian puts the parts of Ceph, a store that speaks S3. */
export const CEPH = {
  monitor: "/usr/bin/ceph-mon",
  disk: "/usr/bin/ceph-osd",
  gateway: "/usr/bin/radosgw",
  users: "/usr/bin/radosgw-admin",
  admin: "/usr/bin/ceph",
  map: "/usr/bin/monmaptool",
};

/** Where Debian puts the Apache server, with its module for WebDAV. */
export const APACHE = { program: "/usr/sbin/apache2", modules: "/usr/lib/apache2/modules" };

/** Where Debian puts rclone, which serves WebDAV too. */
export const RCLONE = "/usr/bin/rclone";

/** True when all servers are there. */
export function hasDriveServers(): boolean {
  return [...Object.values(CEPH), APACHE.program, RCLONE].every((path) => existsSync(path));
}
