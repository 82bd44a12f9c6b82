import { readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readJson, readPackage } from "../../../package/read-package.ts";

const ROOT = new URL("../../../../", import.meta.url);

/** A message of the example runtime. */
export interface Message {
  readonly role: string;
  readonly text?: string;
  readonly id?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly args: unknown }[];
}

/** What the example runtime gives its model. */
export interface ModelInput {
  readonly instructions: string;
  readonly messages: readonly Message[];
  readonly tools: readonly { readonly name: string; readonly description: string; readonly schema: unknown }[];
}

/** The example runtime's way to its human. */
export interface HostUi {
  fillIn(schema: object): Promise<Record<string, unknown>>;
  show(text: string): void;
  confirm(text: string, signal: AbortSignal): Promise<boolean>;
  choose(question: string, choices: readonly { id: string; label: string }[]): Promise<string | undefined>;
}

interface Hosted {
  readonly toolbox: {
    readonly tools: readonly {
      readonly name: string;
      run(args: unknown, call: { callId: string }): Promise<unknown>;
    }[];
    close(): Promise<void>;
  };
  readonly instructions: string;
}

interface HostExample {
  hostPlugin(
    name: string,
    parts: { readonly ui: HostUi; readonly folder: string; readonly media: string },
  ): Promise<Hosted>;
  runTurn(model: (input: ModelInput) => Promise<Message>, hosted: Hosted, messages: Message[]): Promise<string>;
}

/** The code of the runtime in docs/other-runtimes.md. */
export function readExample(): string {
  const text = readFileSync(new URL("docs/other-runtimes.md", ROOT), "utf8");
  const blocks = [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = ""]) => code);
  const [code] = blocks;
  if (blocks.length !== 1 || code === undefined) throw new Error(`${blocks.length} blocks instead of the one runtime`);
  return code;
}

/** Loads the runtime of the guide in `folder`, where the plugin is installed under its own name, run from its sources. */
export async function loadExample(folder: string): Promise<HostExample> {
  const { name, exports } = readPackage();
  const installed = join(folder, "node_modules", name);
  await mkdir(installed, { recursive: true });
  for (const part of ["src", "skills"]) await symlink(new URL(part, ROOT), join(installed, part));
  await writeFile(join(installed, "plugin.manifest.json"), JSON.stringify(readJson("plugin.manifest.json")));
  const doors = Object.entries(exports).map(([door, target]) => {
    const path = typeof target === "string" ? target : target.default;
    return [door, path.replace(/^\.\/dist\/([\w-]+)\.js$/, "./src/$1.ts")];
  });
  const packageJson = { name, type: "module", exports: Object.fromEntries(doors) };
  await writeFile(join(installed, "package.json"), JSON.stringify(packageJson));
  const file = join(folder, "runtime.mjs");
  await writeFile(file, readExample());
  const example: HostExample = await import(pathToFileURL(file).href);
  return example;
}
