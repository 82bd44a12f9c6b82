/** A path cut into components; `.` and doubled separators are gone, `..` is kept so that it can be refused. */
export interface SplitPath {
  /** `""` for a POSIX absolute path, `c:` for a Windows one, undefined for a relative path. */
  readonly volume: string | undefined;
  readonly components: readonly string[];
  /** The path ends as only a folder's can: in a separator or `/.`. */
  readonly folder: boolean;
}

/** Cuts a path by the rules of `platform`; the code says why a path cannot be judged at all. */
export function splitPath(text: string, platform: NodeJS.Platform): SplitPath | "network_path" | "windows_path" {
  if (/^([\\/])\1/.test(text) || /^[\\/]\?\?[\\/]/.test(text)) return "network_path";
  return platform === "win32" ? splitWindows(text) : splitPosix(text);
}

function splitPosix(text: string): SplitPath | "windows_path" {
  if (text.includes("\\") || /^[A-Za-z]:\//.test(text)) return "windows_path";
  return cut(text, text.startsWith("/") ? "" : undefined, "/");
}

function splitWindows(text: string): SplitPath | "network_path" {
  const drive = /^([A-Za-z]:)[\\/]/.exec(text)?.[1];
  if (drive !== undefined) return cut(text.slice(drive.length), drive.toLowerCase(), /[\\/]/);
  // "\x" depends on the current drive and "C:x" on its current folder.
  if (/^[\\/]/.test(text)) return "network_path";
  return cut(text, undefined, /[\\/]/);
}

function cut(text: string, volume: string | undefined, separator: string | RegExp): SplitPath {
  const parts = text.split(separator);
  const last = parts.at(-1);
  return {
    volume,
    components: parts.filter((part) => part !== "" && part !== "."),
    folder: last === "" || last === ".",
  };
}
