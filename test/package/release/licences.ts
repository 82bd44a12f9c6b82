import type { RuntimePackage } from "./runtime-packages.ts";

/**
 * Licences that a package installed with ours may have: they ask for no more than keeping their text, which npm does
 * by installing it. Anything else is a decision, made here.
 */
const ALLOWED = [
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
  "MIT-0",
  "PSF-2.0",
  "Python-2.0",
];

/** Packages whose licence is not allowed; of licences to choose from, one has to be. */
export function findLicenceProblems(packages: readonly RuntimePackage[]): string[] {
  return packages
    .filter(({ license = "" }) => !isAllowed(license))
    .map(({ id, license }) => `${id}: ${license ?? "no licence"}`);
}

function isAllowed(expression: string): boolean {
  const choices = expression.replaceAll(/[()]/g, "").split(" OR ");
  return choices.some((choice) => choice.split(" AND ").every((licence) => ALLOWED.includes(licence)));
}
