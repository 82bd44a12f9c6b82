import { describe, expect, test } from "vitest";
import { listBundledNames } from "./bundled-packages.ts";
import { readPackage } from "./read-package.ts";
import { AUDIT_EXCEPTIONS, type AuditException, findAuditProblems } from "./release/audit.ts";
import { findLicenceProblems } from "./release/licences.ts";
import { listBundledPackages, listRuntimePackages, readLock } from "./release/runtime-packages.ts";
import { createBill, findBillProblems, readWholeBill } from "./release/software-bill.ts";
import { findVersionProblems } from "./release/versions.ts";

const own = readPackage();
const packages = listRuntimePackages(Object.keys(own.dependencies));
/** With what is bundled, and what that would bring along. */
const all = [...packages, ...listRuntimePackages(listBundledNames())];
const NOW = new Date("2026-11-20T12:00:00Z");

describe("packages that are installed with this one", () => {
  test("are all found in the lock file", () => {
    const ids = packages.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(Object.entries(own.dependencies).map(([name, at]) => `${name}@${at}`)));
    expect(ids.length).toBeGreaterThan(Object.keys(own.dependencies).length);
    expect(() => listRuntimePackages(["no-such-package"])).toThrow("package-lock.json has no no-such-package");
  });

  test("have allowed licences only", () => {
    expect(findLicenceProblems(all)).toEqual([]);
  });

  test.each([
    ["MIT", true],
    ["(WTFPL OR MIT)", true],
    ["(MIT AND ISC)", true],
    ["(MIT AND GPL-3.0-only)", false],
    ["AGPL-3.0-or-later", false],
    ["SEE LICENSE IN LICENSE.md", false],
    [undefined, false],
  ])("%s: allowed %s", (license, isAllowed) => {
    expect(findLicenceProblems([{ id: "a@1.0.0", license, hasInstallScript: false }]).length === 0).toBe(isAllowed);
  });

  test("run no script when they are installed", () => {
    expect(all.filter((one) => one.hasInstallScript)).toEqual([]);
    // The tool that brings Node for development does: the lock file tells them apart.
    expect(listRuntimePackages(["node"]).map((one) => one.hasInstallScript)).toContain(true);
  });

  test("are of exactly one version, by the package's own word", () => {
    expect(Object.values(own.dependencies).filter((wanted) => !/^\d+\.\d+\.\d+$/.test(wanted))).toEqual([]);
  });
});

describe("the software bill", () => {
  test("lists what the lock file has, with hash, licence and edges, and nothing else", async () => {
    const whole = await readWholeBill();
    const bill = createBill(whole, own, NOW.toISOString());
    expect(findBillProblems(bill, packages)).toEqual([]);
    expect(bill.metadata.component).toMatchObject({
      name: own.name,
      version: own.version,
      purl: `pkg:npm/${own.name}@${own.version}`,
    });
    expect(createBill(whole, own, NOW.toISOString())).toEqual(bill);

    const short = { ...bill, components: bill.components.slice(1) };
    const [first] = bill.components;
    expect(findBillProblems(short, packages)).toContain(`${first?.["bom-ref"]} is missing`);
    const vitest = readLock().packages["node_modules/vitest"]?.version ?? "";
    const whatDevelopersHave = createBill(whole, { ...own, dependencies: { vitest } }, NOW.toISOString());
    const problem = `vitest@${vitest} is not installed with the package`;
    expect(findBillProblems(whatDevelopersHave, packages)).toContain(problem);
  });
});

describe("the software bill of a bundle", () => {
  const bundled = [
    { name: "undici", version: readLock().packages["node_modules/undici"]?.version ?? "" },
    { name: "strtok3", version: readLock().packages["node_modules/strtok3"]?.version ?? "" },
  ];

  test("lists the packages in it, and none that they would bring along", async () => {
    const subject = { name: "a-bundle", version: own.version, dependencies: {}, bundled };
    const bill = createBill(await readWholeBill(), subject, NOW.toISOString());
    expect(bill.components.map(({ name }) => name).sort()).toEqual(["strtok3", "undici"]);
    expect(bill.dependencies[0]?.dependsOn).toHaveLength(2);
    expect(findBillProblems(bill, listBundledPackages(bundled))).toEqual([]);
    const [first] = listBundledPackages(bundled);
    expect(findBillProblems(bill, first === undefined ? [] : [first])).toHaveLength(1);
  });

  test("is refused for a package of another version than the lock file's", () => {
    expect(() => listBundledPackages([{ name: "undici", version: "1.0.0" }])).toThrow("no undici 1.0.0 to be bundled");
  });
});

describe("the audit", () => {
  const ours = [{ id: "inner@1.0.0", license: "MIT", hasInstallScript: false }];
  const advisory = "https://example.test/advisories/1";
  const report = JSON.stringify({
    vulnerabilities: {
      inner: { severity: "low", via: [{ url: advisory, title: "Reads too far" }] },
      outer: { severity: "low", via: ["inner"] },
    },
  });
  const exception = (until: string): AuditException => ({ advisory, reason: "Never called.", until });

  test("stops at any advisory, once", () => {
    expect(findAuditProblems(report, NOW, ours, [])).toEqual([`inner (low): Reads too far, ${advisory}`]);
    expect(findAuditProblems('{"vulnerabilities":{}}', NOW, ours, [])).toEqual([]);
  });

  test("leaves out what only the tools for development bring", () => {
    expect(findAuditProblems(report, NOW, [], [])).toEqual([]);
  });

  test("stops when there was no report", () => {
    const problem = ["npm audit gave no report: the registry does not answer it."];
    expect(findAuditProblems('{"message":"405 Method Not Allowed"}', NOW, ours, [])).toEqual(problem);
    expect(findAuditProblems("", NOW, ours, [])).toEqual(problem);
  });

  test("lets an exception hold to its day, and no longer than 90 days", () => {
    expect(findAuditProblems(report, NOW, ours, [exception("2026-11-20")])).toEqual([]);
    expect(findAuditProblems(report, NOW, ours, [exception("2026-11-19")])).toEqual([
      `The exception for ${advisory} ended on 2026-11-19.`,
    ]);
    expect(findAuditProblems(report, NOW, ours, [exception("2027-06-01")])).toEqual([
      `The exception for ${advisory} holds longer than 90 days.`,
    ]);
    expect(findAuditProblems(report, NOW, ours, [exception("soon")])).toEqual([
      `The exception for ${advisory} ended on soon.`,
    ]);
  });

  test("has only exceptions that hold", () => {
    expect(findAuditProblems('{"vulnerabilities":{}}', new Date(), ours, AUDIT_EXCEPTIONS)).toEqual([]);
  });
});

describe("versions", () => {
  const same = { package: "1.2.3", lock: "1.2.3", pluginManifest: "1.2.3", hostManifest: "1.2.3" };
  const changelog = "# Changelog\n\n## 1.2.3 (2026-11-20)\n\n- News.\n\n## 1.2.2 (2026-11-01)\n\n- Old.\n";

  test("are one when every place says the same", () => {
    expect(findVersionProblems({ ...same, changelog })).toEqual([]);
    expect(findVersionProblems({ ...same, lock: "1.2.2", changelog })).toEqual([
      "package.json says 1.2.3, the lock file says 1.2.2.",
    ]);
  });

  test.each([
    ["## Unreleased\n\n- News.\n", '"## Unreleased"'],
    ["## 1.2.2 (2026-11-01)\n\n- Old.\n", '"## 1.2.2 (2026-11-01)"'],
    ["## 1.2.3\n\n- News.\n", "YYYY-MM-DD"],
    ["## 1.2.3 (2026-11-20)\n\n## 1.2.2 (2026-11-01)\n\n- Old.\n", "says nothing"],
  ])("need a changelog with this version on top: %j", (text, said) => {
    expect(findVersionProblems({ ...same, changelog: text })).toEqual([expect.stringContaining(said)]);
  });
});
