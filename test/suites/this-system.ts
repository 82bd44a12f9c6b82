import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";

/** What the system of this run can do, for tests of what others have not. */

export const IS_WINDOWS = process.platform === "win32";

/** Expects who may read a file or folder. Windows has no such modes. */
export function expectMode(path: string, mode: number): void {
  const own = statSync(path).mode & 0o777;
  if (!IS_WINDOWS) expect(own, path).toBe(mode);
}

/** A link leads to what it names. Wine makes links that lead nowhere; Windows makes them for whoever may. */
export const HAS_LINKS = tryLink();

function tryLink(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "svc-link-"));
  try {
    const [real, linked] = [join(folder, "real"), join(folder, "linked")];
    mkdirSync(real);
    symlinkSync(real, linked);
    return realpathSync(linked) === realpathSync(real);
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
