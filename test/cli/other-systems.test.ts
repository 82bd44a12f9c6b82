import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findPlaces, sayReaders } from "../../src/cli/context.ts";
import { listFiles, listMcpClients } from "../../src/cli/mcp-client-files.ts";
import { describeOwnProgram } from "../../src/cli/own-program.ts";
import { jsonObject } from "../../src/cli/settings.ts";
import { quotePath } from "../../src/cli/terminal.ts";

/** What the command line does on systems and in set-ups that this machine is not. */

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "svc-systems-")));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe("the file of Claude Desktop on Windows", () => {
  const env = () => ({ USERPROFILE: folder, APPDATA: join(folder, "Roaming"), LOCALAPPDATA: join(folder, "Local") });
  const usual = () => join(folder, "Roaming", "Claude");
  const packaged = (name: string) => join(folder, "Local", "Packages", name, "LocalCache", "Roaming", "Claude");
  const find = (platform: NodeJS.Platform = "win32") => {
    const client = listMcpClients({ platform, env: env() }).find(({ name }) => name === "claude-desktop");
    return client === undefined ? [] : listFiles(client).map(({ file }) => file);
  };
  const files = (...folders: string[]) => folders.map((one) => join(one, "claude_desktop_config.json"));

  test("is the usual one where there is none, or that one alone", async () => {
    expect(find()).toEqual(files(usual()));
    await mkdir(usual(), { recursive: true });
    expect(find()).toEqual(files(usual()));
  });

  test("is the package's, or both, or all", async () => {
    await mkdir(packaged("Claude_a1"), { recursive: true });
    await mkdir(join(folder, "Local", "Packages", "Claude_empty"), { recursive: true });
    await mkdir(packaged("Clock_x"), { recursive: true });
    expect(find()).toEqual(files(packaged("Claude_a1")));
    await mkdir(usual(), { recursive: true });
    expect(find()).toEqual(files(usual(), packaged("Claude_a1")));
    await mkdir(packaged("Claude_b2"), { recursive: true });
    expect(find()).toEqual(files(usual(), packaged("Claude_a1"), packaged("Claude_b2")));
    expect(find("darwin")).toHaveLength(1);
  });
});

describe("the program that a client starts", () => {
  /** An installation with a link to it, as managers of Node make them. */
  async function link(from: string, ...installed: string[]): Promise<string> {
    const script = join(folder, ...installed);
    await mkdir(join(script, ".."), { recursive: true });
    await writeFile(script, "");
    await mkdir(join(folder, from, ".."), { recursive: true });
    await symlink(script, join(folder, from));
    return join(folder, from);
  }
  const describeAt = (script: string, node = process.execPath) =>
    describeOwnProgram({ node, script, env: {} }) as { command: string; args: string[] };

  test.each([
    ["fnm", "fnm_multishells/812_179/bin/svc"],
    ["nvm's current", "nvm/current/bin/svc"],
    ["n and npm", "usr/local/bin/svc"],
    ["mise", "mise/installs/node/latest/bin/svc"],
  ])("is where %s put it, not the link", async (_manager, from) => {
    const script = await link(from, "node-24/lib/node_modules/svc-agent-plugin/dist/bin.js");
    const { args } = describeAt(script);
    expect(args[0]).toBe(join(folder, "node-24/lib/node_modules/svc-agent-plugin/dist/bin.js"));
  });

  test("Node itself is named by its place, too", async () => {
    const node = await link("fnm_multishells/1_2/node.exe", "versions/24/node.exe");
    expect(describeAt("/x/bin.js", node).command).toBe(join(folder, "versions/24/node.exe"));
  });

  test("a link that outlives a version is kept: pnpm's", async () => {
    const inside = "global/5/node_modules/.pnpm/svc-agent-plugin@0.1.0/node_modules/svc-agent-plugin";
    await mkdir(join(folder, inside, "dist"), { recursive: true });
    await writeFile(join(folder, inside, "dist/bin.js"), "");
    await symlink(join(folder, inside), join(folder, "global/5/node_modules/svc-agent-plugin"));
    const script = join(folder, "global/5/node_modules/svc-agent-plugin/dist/bin.js");
    expect(describeAt(script).args[0]).toBe(script);
  });

  test("a link into a cache of npx is refused as the cache is", async () => {
    const script = await link("bin/svc", "_npx/1a2b/node_modules/svc-agent-plugin/dist/bin.js");
    expect(() => describeAt(script)).toThrow("from a cache");
  });
});

describe("arguments that a shell would change", () => {
  const read = (text: string, input: Buffer | string = "") =>
    jsonObject({ text, flag: "--args", example: "{}" }, Readable.from([input]) as unknown as NodeJS.ReadStream);
  const JSON_TEXT = '{\r\n  "folder": "Gr\u00fc\u00dfe"\r\n}\r\n';
  const ENCODED: readonly (readonly [name: string, bytes: Buffer])[] = [
    ["UTF-8", Buffer.from(JSON_TEXT)],
    ["UTF-8 with a mark", Buffer.from(`\ufeff${JSON_TEXT}`)],
    ["UTF-16 of PowerShell", Buffer.from(`\ufeff${JSON_TEXT}`, "utf16le")],
    ["UTF-16, the other way round", Buffer.from(`\ufeff${JSON_TEXT}`, "utf16le").swap16()],
  ];

  test.each(ENCODED)("come from a file and from standard input in %s", async (_name, bytes) => {
    await writeFile(join(folder, "args.json"), bytes);
    expect(await read(`@${join(folder, "args.json")}`)).toEqual({ folder: "Gr\u00fc\u00dfe" });
    expect(await read("-", bytes)).toEqual({ folder: "Gr\u00fc\u00dfe" });
  });

  test("what cannot be read is named", async () => {
    await expect(read("@/none/args.json")).rejects.toMatchObject({ code: "invalid_config", field: "--args" });
    await writeFile(join(folder, "args.json"), Buffer.from([0x7b, 0xff, 0x7d]));
    await expect(read(`@${join(folder, "args.json")}`)).rejects.toThrow("not in UTF-8 or UTF-16");
    await expect(read("{folder:Reports}")).rejects.toMatchObject({ hint: expect.stringContaining("@args.json") });
  });
});

test("paths in hints can be pasted", () => {
  expect(quotePath("/srv/backup.tgz", "linux")).toBe("/srv/backup.tgz");
  expect(quotePath("/srv/it's one.tgz", "linux")).toBe("'/srv/it'\\''s one.tgz'");
  expect(quotePath("C:\\data\\b.tgz", "win32")).toBe("C:\\data\\b.tgz");
  expect(quotePath("C:\\my data\\b.tgz", "win32")).toBe('"C:\\my data\\b.tgz"');
});

test("who may read a file is said of Windows by its place", () => {
  const of = (path: string) => sayReaders(path, "win32", () => "C:\\Users\\ada");
  expect(of("C:\\users\\ADA\\AppData\\svc")).toBe("readable by you alone");
  for (const path of ["D:\\svc\\key", "C:\\Users\\bob\\x", "C:\\x"]) expect(of(path)).toContain("other users");
  expect(sayReaders("/srv/key", "linux")).toBe("readable by you alone");
});

test("a user without a home folder is told what to set", () => {
  const none = () => {
    throw Object.assign(new Error("uv_os_homedir returned ENOENT"), { code: "ERR_SYSTEM_ERROR" });
  };
  expect(() => findPlaces({}, none)).toThrow(
    expect.objectContaining({ code: "invalid_config", hint: expect.stringContaining("SVC_HOME") }),
  );
  expect(findPlaces({ SVC_HOME: "/srv/svc" }, none).config).toBe("/srv/svc/config");
});
