/**
 * The ten biggest parts of a package, biggest first, one line each. A part is a file at the top, or a folder and the one
 * below it.
 *
 * @param files sizes in bytes
 */
export function listBiggest(files: readonly { readonly path: string; readonly size: number }[]): string[] {
  const sums = new Map<string, number>();
  for (const { path, size } of files) {
    const part = path.split("/").slice(0, -1).slice(0, 3).join("/") || path;
    sums.set(part, (sums.get(part) ?? 0) + size);
  }
  const sorted = [...sums].sort(([, a], [, b]) => b - a).slice(0, 10);
  return sorted.map(([part, size]) => `${(size / 1000).toFixed(0).padStart(6)} kB  ${part}`);
}
