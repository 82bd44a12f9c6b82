/** The places that say which version this is. */
export interface Versions {
  readonly package: string;
  readonly lock: string;
  readonly pluginManifest: string;
  readonly hostManifest: string;
  readonly changelog: string;
}

/**
 * What keeps these from being one release: the first heading of the changelog has to be the version and its day,
 * `## 1.2.3 (2026-11-20)`, with something below it, and every other place has to say the same version.
 */
export function findVersionProblems(versions: Versions): string[] {
  const { package: version, changelog, ...others } = versions;
  const differing = Object.entries(others)
    .filter(([, value]) => value !== version)
    .map(([place, value]) => `package.json says ${version}, the ${PLACES[place] ?? place} says ${value}.`);
  const [, heading = "", text = ""] = /^## ([^\n]*)\n(.*?)(?=^## |$(?![\s\S]))/ms.exec(changelog) ?? [];
  const [, released] = /^(\S+) \(\d{4}-\d{2}-\d{2}\)$/.exec(heading) ?? [];
  if (released !== version) {
    differing.push(`The first heading of CHANGELOG.md is "## ${heading}"; it has to be "## ${version} (YYYY-MM-DD)".`);
  } else if (text.trim() === "") differing.push(`CHANGELOG.md says nothing about ${version}.`);
  return differing;
}

const PLACES: Readonly<Record<string, string>> = {
  lock: "lock file",
  pluginManifest: "plugin.manifest.json",
  hostManifest: "openclaw.plugin.json",
};
