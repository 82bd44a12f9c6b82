import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeError } from "../../src/cli/json-errors.ts";
import { createTerminal } from "../../src/cli/terminal.ts";
import { SvcError } from "../../src/shared/errors.ts";
import { runSvc } from "../e2e/run-svc.ts";

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-json-errors-"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

describe("svc --json", () => {
  test.each([
    [["tools"], 3, { code: "credentials_missing", message: "This machine is not paired with a service." }],
    [["frobnicate"], 2, { code: "usage", message: "unknown command 'frobnicate'" }],
    [["serch"], 2, { code: "usage", hint: 'Did you mean search? "svc help" shows the commands.' }],
    [[], 2, { code: "usage", message: "No command was given." }],
    [["call"], 2, { code: "usage", message: "missing required argument 'tool'" }],
    [["call", "x", "--args", "[1]"], 2, { code: "invalid_config", field: "--args" }],
    [["completion", "tcsh"], 2, { code: "usage", message: 'no completion for "tcsh": choose bash, zsh or fish' }],
    [["rules", "list", "--data", "/nowhere"], 1, { code: "invalid_config" }],
  ])("svc %j ends with one JSON object and the exit code it has without", async (args, code, error) => {
    const [json, plain] = await Promise.all([runSvc([...args, "--json"], home), runSvc(args, home)]);
    expect(json.stdout).toMatch(/^[^\n]+\n$/);
    expect(JSON.parse(json.stdout)).toMatchObject({ error });
    expect([json.code, plain.code]).toEqual([code, code]);
    expect(json.stderr).toBe("");
    expect(plain.stdout).toBe("");
    if (args.length > 0) expect(plain.stderr).toMatch(/^Error: /);
  });

  test("prints help and version as without it", async () => {
    const runs = await Promise.all(
      [["--json", "-v"], ["--version"], ["call", "--help"]].map((args) => runSvc(args, home)),
    );
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(runs[0]?.stdout).toBe(runs[1]?.stdout);
    expect(runs[1]?.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(runs[2]?.stdout).toMatch(/--json +print answers and errors as JSON/);
    expect(runs[2]?.stdout).toMatch(/--timeout <seconds>/);
  });
});

test("an error keeps message, hint and field apart, and draws nothing", () => {
  const error = new SvcError("invalid_config", "It is\u001b[2J wrong.", { field: "--x", hint: "Put it right." });
  expect(describeError(error)).toBe(
    String.raw`{"error":{"code":"invalid_config","message":"It is\u001b[2J wrong.","hint":"Put it right.","field":"--x"}}`,
  );
  expect(JSON.parse(describeError(new TypeError("Oh")))).toEqual({ error: { code: "unexpected", message: "Oh" } });
});

describe("a terminal", () => {
  const open = (json: boolean) => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()].map((stream) =>
      Object.assign(stream, { isTTY: true }),
    );
    const terminal = createTerminal({ stdout, stderr, env: {}, json } as never);
    return { terminal, read: () => [stdout, stderr].map((stream) => String(stream?.read() ?? "")) };
  };

  test("gives a command that declined without an answer the error it said", () => {
    const { terminal, read } = open(true);
    terminal.say("Nothing was changed.");
    terminal.endWithoutAnswer(4);
    expect(read()).toEqual([
      '{"error":{"code":"not_approved","message":"Nothing was changed."}}\n',
      "Nothing was changed.\n",
    ]);
    terminal.answer({ ok: false }, () => "");
    read();
    terminal.endWithoutAnswer(1);
    expect(read()).toEqual(["", ""]);
  });

  test("says nothing more without --json, or when all is well", () => {
    const { terminal, read } = open(false);
    terminal.endWithoutAnswer(1);
    expect(read()).toEqual(["", ""]);
    const other = open(true);
    other.terminal.endWithoutAnswer(0);
    expect(other.read()).toEqual(["", ""]);
  });

  test("clears the line of a wait before the next output", () => {
    const { terminal, read } = open(false);
    terminal.wait("waiting for x");
    terminal.answer(1, () => "one");
    expect(read()[0]).toBe("\r\u001b[2Kone\n");
    terminal.say("two");
    expect(read()[0]).toBe("two\n");
  });
});
