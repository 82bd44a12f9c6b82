import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { hasDriveServers } from "../apps/drive/servers/find-drive-servers.ts";
import { hasConsumers, hasEngines, hasNodes } from "../consumers/consumer.ts";
import { hasServers } from "../e2e/added-apps/find-servers.ts";
import { findOpenClaw } from "../e2e/openclaw/host/find-openclaw.ts";
import { canMountDisks } from "../faults/other-disks/disks.ts";
import { canUsePidNamespaces } from "../faults/pid-namespaces/pid-namespaces.ts";
import { canMakeSmallDisk } from "../faults/small-disk/small-disk.ts";
import { hasWindows } from "../windows/wine-place.ts";
import { findPostgres } from "./start-postgres.ts";
import { IN_OPENCLAW } from "./test-files.ts";

/** A group of test files that needs something the project cannot install through npm. */
export interface SystemSuite {
  readonly name: string;
  readonly files: string;
  readonly present: () => boolean;
  /** What a person types to be able to run it. */
  readonly provide: string;
}

/** Where Debian, Fedora and macOS put a Chromium; `SVC_CHROMIUM` overrides. */
const CHROMIUM_PATHS = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** Path of a Chromium on this machine, or undefined. */
export function findChromium(): string | undefined {
  const wanted = process.env.SVC_CHROMIUM;
  return [...(wanted ? [wanted] : []), ...CHROMIUM_PATHS].find((path) => existsSync(path));
}

/** True when a program of this name is on the PATH. */
function isInstalled(program: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));
}

/** True when tests can run the plugin in the real host, with a browser for the approval page. */
export function hasOpenClaw(): boolean {
  return findOpenClaw() !== undefined && findChromium() !== undefined;
}

/** True when tests can start a PostgreSQL, or are given one by `SVC_TEST_POSTGRES`. */
export function hasPostgres(): boolean {
  return Boolean(process.env.SVC_TEST_POSTGRES) || findPostgres() !== undefined;
}

export const SYSTEM_SUITES: readonly SystemSuite[] = [
  {
    name: "browser (pairing and sign-in pages in real Chromium)",
    files: "test/e2e/browser/**/*.test.ts",
    present: () => findChromium() !== undefined,
    provide: "sudo apt-get install -y chromium",
  },
  {
    name: "curl (the upload command of a hint, run as it stands)",
    files: "test/service/files/curl/**/*.test.ts",
    present: () => isInstalled("curl"),
    provide: "sudo apt-get install -y curl",
  },
  {
    name: "postgres (flows and storage shared by several processes, on a real server)",
    files: "test/**/postgres/**/*.test.ts",
    present: hasPostgres,
    provide: "sudo apt-get install -y postgresql",
  },
  {
    name: "dovecot (mail over IMAP and SMTP on real servers)",
    files: "test/**/dovecot/**/*.test.ts",
    present: () => existsSync("/usr/sbin/dovecot") && isInstalled("openssl"),
    provide: "sudo apt-get install -y dovecot-imapd openssl",
  },
  {
    name: "servers of files (drives over WebDAV on Apache and rclone, and in a bucket of Ceph)",
    files: "test/apps/drive/servers/*.test.ts",
    present: hasDriveServers,
    provide: "sudo apt-get install -y apache2-bin ceph-mon ceph-osd radosgw rclone",
  },
  {
    name: "radicale (calendars and contacts on a real server)",
    files: "test/**/radicale/**/*.test.ts",
    present: () => isInstalled("radicale"),
    provide: "sudo apt-get install -y radicale",
  },
  {
    name: "small disk (a full and a read-only disk under the plugin and under the service)",
    files: "test/faults/small-disk/**/*.test.ts",
    present: canMakeSmallDisk,
    provide: "on Linux as root, or where users may make user namespaces (sysctl kernel.unprivileged_userns_clone=1)",
  },
  {
    name: "faulty-disk (a disk that does not flush, or fails at one operation)",
    files: "test/faults/faulty-disk/**/*.test.ts",
    present: () => process.platform === "linux" && isInstalled("gcc"),
    provide: "on Linux: sudo apt-get install -y gcc libc6-dev",
  },
  {
    name: "other disks (every write on exFAT, on NTFS and without /proc)",
    files: "test/faults/other-disks/**/*.test.ts",
    present: canMountDisks,
    provide: "on Linux as root, with /dev/fuse: apt-get install -y exfat-fuse exfatprogs fuse3 ntfs-3g",
  },
  {
    name: "windows (most commands of the README, and quick suites, under Windows' Node in Wine)",
    files: "test/windows/*.test.ts",
    present: () => hasWindows() && canMountDisks(),
    provide: "on Debian, as root, beside what other disks need: npm run windows:install && npm run test:windows",
  },
  {
    name: "pid namespaces (containers with one host name on one state folder)",
    files: "test/faults/pid-namespaces/**/*.test.ts",
    present: canUsePidNamespaces,
    provide: "on Linux as root, or where users may make user namespaces (sysctl kernel.unprivileged_userns_clone=1)",
  },
  {
    name: "openclaw (the packed plugin inside the real OpenClaw)",
    files: IN_OPENCLAW,
    present: hasOpenClaw,
    provide: "npm run openclaw:install && sudo apt-get install -y chromium",
  },
  {
    name: "added apps (real MCP servers, GitHub's OpenAPI document, and swagger-client)",
    files: "test/e2e/added-apps/**/*.test.ts",
    present: hasServers,
    provide: "npm run mcp-servers:install",
  },
  {
    name: "consumers (the packed package with TypeScript 5.9, 6 and 7, in bundles of webpack, esbuild, Vite and Next; the software bill beside its schema; OpenTelemetry; Standard Webhooks)",
    files: "test/consumers/{bundles,types,software-bill,telemetry,webhooks}.test.ts",
    present: hasConsumers,
    provide: "npm run consumers:install",
  },
  {
    name: "nodes (the packed package under Node 22.19, 24 and 26)",
    files: "test/consumers/nodes.test.ts",
    present: hasNodes,
    provide: "npm run consumers:install, on Linux x64",
  },
  {
    name: "engines (the packed package under Deno and Bun)",
    files: "test/consumers/engines.test.ts",
    present: hasEngines,
    provide: "npm run consumers:install, on Linux x64",
  },
];
