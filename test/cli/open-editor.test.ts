import { access, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { editFile, findEditor, runEditor } from "../../src/cli/open-editor.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-editor-test-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const never = new AbortController().signal;

/** A program that does what an editor does to its file, and tells where that is. */
async function edit(text: string, script: string, signal = never) {
  const program = join(folder, "editor.sh");
  const seen = join(folder, "seen");
  await writeFile(program, `stat -c '%a %n' "$2" > "${seen}"\n${script}\n`);
  const saved = await editFile(text, (file) => runEditor(`sh '${program}' --wait`, { file, output: 2, signal }));
  const [mode = "", file = ""] = (await readFile(seen, "utf8")).trim().split(" ");
  const isLeft = await access(dirname(file)).then(
    () => true,
    () => false,
  );
  return { saved, mode, isLeft };
}

describe("a text in the editor of the human", () => {
  test("is in a file of theirs alone, which is gone afterwards, with what the editor left beside it", async () => {
    const edited = await edit("{}\n", 'printf "%s" "[]" > "$2"; touch "$2~"');
    expect(edited).toEqual({ saved: "[]", mode: "600", isLeft: false });
  });

  test.each([
    ["ends with an error", "exit 1"],
    ["removes it", 'rm "$2"; exit 1'],
  ])("is as it was when the editor %s", async (_how, script) => {
    expect(await edit("{}", script)).toEqual({ saved: undefined, mode: "600", isLeft: false });
  });

  test("is gone too when the call ends meanwhile, and so is the editor", async () => {
    const ending = new AbortController();
    const file = join(folder, "seen");
    const edited = edit("{}", "exec sleep 20", ending.signal);
    await expect.poll(() => readFile(file, "utf8").catch(() => "")).toMatch(/\n$/);
    ending.abort(new Error("over"));
    await expect(edited).rejects.toThrow("over");
    const [, place = ""] = (await readFile(file, "utf8")).trim().split(" ");
    await expect(access(dirname(place))).rejects.toMatchObject({ code: "ENOENT" });
  });
});

test("VISUAL goes before EDITOR, and neither counts without a terminal", () => {
  const tty = { isTTY: true, fd: 1 };
  const find = (env: Record<string, string>, stream: object = tty) =>
    findEditor({ env, input: stream, output: stream, terminal: { json: false } } as never) !== undefined;
  expect(find({ EDITOR: "vi" })).toBe(true);
  expect(find({ VISUAL: "code --wait" })).toBe(true);
  expect(find({ VISUAL: " ", EDITOR: "" })).toBe(false);
  expect(find({ EDITOR: "vi" }, { fd: 1 })).toBe(false);
});
