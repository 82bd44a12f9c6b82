import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { watchProcess } from "../e2e/watch-process.ts";
import { type InstalledPackage, installPacked } from "../package/install-packed.ts";
import { PACKAGE_ROOT, readPackage } from "../package/read-package.ts";
import { runCommand } from "../package/run-command.ts";
import { findFreePort } from "../service/free-port.ts";
import { createConsumer } from "./consumer.ts";

/** A program that takes the package in with each of the usual bundlers, and the bundle started where nothing else lies. */

const load = (name: string, folder = "test/consumers") =>
  import(pathToFileURL(createRequire(join(PACKAGE_ROOT, folder, "package.json")).resolve(name)).href);
const DOORS = ["", "/langchain", "/ai-sdk", "/openai-agents"];
/** Loads doors, and asks a service that is not there, which needs the version that the package has in a file of its own. */
const writeProgram = (doors: readonly string[]) => `
import { openToolbox } from "svc-agent-plugin";
${doors.map((door, index) => `import * as door${index} from "svc-agent-plugin${door}";`).join("\n")}
const doors = [${doors.map((_, index) => `door${index}`)}].every((door) => Object.keys(door).length > 0);
openToolbox({ baseUrl: "http://127.0.0.1:9", apiKey: "svc_live_none", mediaRoots: [] }).then(
  () => console.log("opened"),
  (error) => console.log(doors, error.code ?? error.stack),
);
`;

let folder: string;
let packed: InstalledPackage;
let project: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-bundles-"));
  packed = await installPacked(folder);
  project = await createConsumer(packed, "newest peers");
  await writeFile(join(project, "program.mjs"), writeProgram(DOORS));
  // The packages that these doors need besides call for modules of Node as CommonJS does, which such a bundle cannot.
  await writeFile(join(project, "alone.mjs"), writeProgram(["", "/ai-sdk"]));
}, 300_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

type Bundle = (entry: string, out: string) => Promise<unknown>;

const esbuild =
  (format: "esm" | "cjs", minify: boolean): Bundle =>
  async (entry, out) => {
    const { build } = await load("esbuild");
    await build({
      entryPoints: [entry],
      outfile: out,
      bundle: true,
      platform: "node",
      format,
      minify,
      logLevel: "error",
    });
  };

const webpack =
  (mode: "production" | "development"): Bundle =>
  async (entry, out) => {
    const { default: run } = await load("webpack");
    const stats = await new Promise<{ toJson(what: object): { errors: object[] } }>((done, fail) =>
      run(
        { mode, entry, target: "node22", output: { path: join(out, ".."), filename: "bundle.cjs" }, context: project },
        (error: Error | null, result: never) => (error === null ? done(result) : fail(error)),
      ),
    );
    expect(stats.toJson({ all: false, errors: true }).errors).toEqual([]);
  };

const vite: Bundle = async (entry, out) => {
  const { build } = await load("vite", "node_modules/vitest");
  const outDir = join(out, "..");
  const rollupOptions = { input: entry, output: { entryFileNames: "bundle.mjs" } };
  await build({
    root: project,
    logLevel: "error",
    configFile: false,
    ssr: { noExternal: true },
    build: { ssr: entry, outDir, emptyOutDir: false, rollupOptions },
  });
};

test.each<readonly [string, Bundle, string]>([
  ["webpack, production", webpack("production"), "bundle.cjs"],
  ["webpack, development", webpack("development"), "bundle.cjs"],
  ["esbuild, modules", esbuild("esm", false), "bundle.mjs"],
  ["esbuild, modules, minified", esbuild("esm", true), "bundle.mjs"],
  ["esbuild, CommonJS", esbuild("cjs", false), "bundle.cjs"],
  ["esbuild, CommonJS, minified", esbuild("cjs", true), "bundle.cjs"],
  ["Vite", vite, "bundle.mjs"],
])(
  "a bundle of %s loads and works",
  async (name, bundle, file) => {
    const alone = join(folder, name.replaceAll(/\W+/g, "-"));
    await mkdir(alone);
    await bundle(
      join(project, file === "bundle.mjs" && name !== "Vite" ? "alone.mjs" : "program.mjs"),
      join(alone, file),
    );
    const ran = await runCommand(process.execPath, [join(alone, file)], alone);
    expect([ran.code, ran.stderr, ran.stdout.trim()]).toEqual([0, "", "true unreachable"]);
  },
  400_000,
);

const ROUTE = `import { openToolbox } from "svc-agent-plugin";
import { SvcToolkit } from "svc-agent-plugin/langchain";
export const dynamic = "force-dynamic";
export const GET = () =>
  openToolbox({ baseUrl: "http://127.0.0.1:9", apiKey: "svc_live_none", mediaRoots: [] }).then(
    () => new Response("opened"),
    (error) => new Response([typeof SvcToolkit.create, error.code ?? error.stack].join(" ")),
  );
`;

test("a site of Next without optional peers, built by each of its bundlers, works", async () => {
  const site = await createConsumer(packed, "core 1.1 alone");
  for (const name of ["next", "react", "react-dom"])
    await symlink(join(PACKAGE_ROOT, "test/consumers/node_modules", name), join(site, "node_modules", name));
  await mkdir(join(site, "app/check"), { recursive: true });
  await writeFile(join(site, "app/check/route.js"), ROUTE);
  // The packages are links to where they are installed.
  const config = { turbopack: { root: "/" }, outputFileTracingRoot: "/" };
  await writeFile(join(site, "next.config.mjs"), `export default ${JSON.stringify(config)};\n`);
  const next = join(site, "node_modules/next/dist/bin/next");
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" };
  for (const bundler of ["--turbopack", "--webpack"]) {
    const built = await watchProcess(process.execPath, [next, "build", bundler], { env, cwd: site }).done;
    expect([built.code, built.stderr.replaceAll(/.*(?:experimental|Warning).*\n/g, "")]).toEqual([0, ""]);
    const port = String(await findFreePort());
    const args = [next, "start", "--hostname", "127.0.0.1", "--port", port];
    const served = watchProcess(process.execPath, args, { env, cwd: site, withChildren: true });
    await served.waitFor(/Ready in/);
    expect(await (await fetch(`http://127.0.0.1:${port}/check`)).text()).toBe("function unreachable");
    served.kill("SIGTERM");
    await served.done;
  }
}, 600_000);

test("require gives what import gives", async () => {
  const script = `for (const door of ${JSON.stringify(DOORS)}) require("${readPackage().name}" + door); console.log("loaded");`;
  const ran = await runCommand(process.execPath, ["--eval", script], project);
  expect([ran.code, ran.stderr, ran.stdout.trim()]).toEqual([0, "", "loaded"]);
});
