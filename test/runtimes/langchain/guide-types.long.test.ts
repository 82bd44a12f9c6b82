import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { closeAll, makeFolder } from "../../calls/open-test-session.ts";
import { readFences } from "../../docs/read-page.ts";
import { PACKAGE_ROOT, readPackage } from "../../package/read-package.ts";
import { runCommand } from "../../package/run-command.ts";

/** The blocks in TypeScript compile, strictly, as programs of this package's users. */
const PAGES = ["docs/langchain.md", "docs/other-runtimes.md"];

afterEach(closeAll);

it.each([
  { module: "nodenext", moduleResolution: "nodenext" },
  { module: "preserve", moduleResolution: "bundler" },
])("every block compiles: $moduleResolution", async (modules) => {
  const folder = await makeFolder();
  await symlink(join(PACKAGE_ROOT, "node_modules"), join(folder, "node_modules"));
  const doors = Object.keys(readPackage().exports).filter((door) => !door.endsWith(".json"));
  const paths = doors.map((door) => {
    const name = door === "." ? "index" : door.slice(2);
    return [door.replace(".", "svc-agent-plugin"), [join(PACKAGE_ROOT, "src", `${name}.ts`)]];
  });
  const blocks = PAGES.flatMap(readFences).filter(({ language }) => language === "ts");
  expect(blocks.length).toBeGreaterThan(6);
  for (const [index, { code }] of blocks.entries()) await writeFile(join(folder, `block-${index}.ts`), code);
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  const compilerOptions = {
    ...modules,
    target: "es2024",
    lib: ["es2024", "esnext.disposable", "esnext.collection", "esnext.array"],
    types: ["node"],
    strict: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    resolveJsonModule: true,
    skipLibCheck: false,
    paths: Object.fromEntries(paths),
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["block-*.ts"] }));
  const tsc = join(PACKAGE_ROOT, "node_modules/typescript/bin/tsc");
  const { stdout, stderr } = await runCommand(process.execPath, [tsc, "-p", "."], folder);
  expect(stdout + stderr).toBe("");
});
