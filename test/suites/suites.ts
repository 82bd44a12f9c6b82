import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { findPostgres } from "./start-postgres.ts";

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
];
