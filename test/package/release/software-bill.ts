import { createHash } from "node:crypto";
import { z } from "zod";
import { PACKAGE_ROOT } from "../read-package.ts";
import { runCommand } from "../run-command.ts";
import type { RuntimePackage } from "./runtime-packages.ts";

const componentSchema = z.looseObject({ "bom-ref": z.string(), name: z.string(), version: z.string() });
const billSchema = z.looseObject({
  bomFormat: z.literal("CycloneDX"),
  specVersion: z.string(),
  serialNumber: z.string(),
  metadata: z.looseObject({ timestamp: z.string(), component: componentSchema }),
  components: z.array(componentSchema),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()).optional() })),
});

/** A software bill of materials (SBOM) in CycloneDX's JSON form. */
export type SoftwareBill = z.infer<typeof billSchema>;

/** What npm writes for the whole lock file, tools for development included. */
export async function readWholeBill(): Promise<SoftwareBill> {
  const args = ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"];
  const { code, stdout, stderr } = await runCommand("npm", args, PACKAGE_ROOT);
  if (code !== 0) throw new Error(`npm sbom failed:\n${stderr}`);
  return billSchema.parse(JSON.parse(stdout));
}

/**
 * The bill of one package: what its dependencies bring along and what is bundled in it, and nothing else. `npm sbom --omit=dev` cannot be used
 * for that: it leaves out every package that a tool for development needs as well. Equal inputs give equal bytes.
 *
 * @param subject name, version, dependencies and bundled packages of the package
 * @param timestamp of the commit, ISO 8601
 */
export function createBill(
  whole: SoftwareBill,
  subject: {
    readonly name: string;
    readonly version: string;
    readonly dependencies: Readonly<Record<string, string>>;
    readonly bundled?: readonly { readonly name: string; readonly version: string }[];
  },
  timestamp: string,
): SoftwareBill {
  const { name, version, bundled = [] } = subject;
  const root = `${name}@${version}`;
  const direct = Object.entries(subject.dependencies).map(([dependency, wanted]) => `${dependency}@${wanted}`);
  const inside = bundled.map((one) => `${one.name}@${one.version}`);
  const edges = new Map(whole.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn ?? []]));
  const reached = new Set(direct);
  for (const ref of reached) for (const next of edges.get(ref) ?? []) reached.add(next);
  // A bundle holds no more of its packages than it says.
  for (const ref of inside) reached.add(ref);
  const described = {
    ...whole.metadata.component,
    "bom-ref": root,
    name,
    purl: `pkg:npm/${name}@${version}`,
  };
  const components = whole.components.filter((component) => reached.has(component["bom-ref"]));
  const dependencies = whole.dependencies
    .filter(({ ref }) => reached.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((next) => reached.has(next)) }));
  const bill = {
    ...whole,
    metadata: { ...whole.metadata, timestamp, component: described },
    components,
    dependencies: [{ ref: root, dependsOn: [...direct, ...inside].sort() }, ...dependencies],
  };
  return { ...bill, serialNumber: createSerialNumber(JSON.stringify({ components, dependencies, root, timestamp })) };
}

/** A UUID made from a text, so that the same release has the same number. */
function createSerialNumber(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return `urn:uuid:${parts.join("-")}`;
}

/** What a bill lacks or has too much beside the lock file; empty when it is complete. */
export function findBillProblems(bill: SoftwareBill, packages: readonly RuntimePackage[]): string[] {
  const listed = new Set(bill.components.map((component) => component["bom-ref"]));
  const needed = new Set(packages.map(({ id }) => id));
  const known = new Set([...listed, bill.metadata.component["bom-ref"]]);
  return [
    ...[...needed].filter((id) => !listed.has(id)).map((id) => `${id} is missing`),
    ...[...listed].filter((id) => !needed.has(id)).map((id) => `${id} is not installed with the package`),
    ...bill.components
      .filter((component) => !("hashes" in component) || !("licenses" in component))
      .map((component) => `${component["bom-ref"]} has no hash or no licence`),
    ...bill.dependencies
      .flatMap(({ ref, dependsOn = [] }) => [ref, ...dependsOn])
      .filter((ref) => !known.has(ref))
      .map((ref) => `${ref} is referred to and not described`),
  ];
}
