import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ApprovalSubject, createApprovalRequest } from "../../../../src/plugin/calls/ask/request.ts";
import {
  createTerminalApprover,
  createUnattendedApprover,
  type TerminalApprover,
} from "../../../../src/plugin/runtimes/terminal/approve-in-terminal.ts";

const signal = new AbortController().signal;
let input: PassThrough;
let output: PassThrough;
let shown: string;
let approve: TerminalApprover;

beforeEach(() => {
  input = new PassThrough();
  output = new PassThrough();
  shown = "";
  output.on("data", (chunk) => {
    shown += String(chunk);
  });
  approve = createTerminalApprover({ input, output });
});
afterEach(() => approve.close());

function createRequest(change: Partial<ApprovalSubject> = {}) {
  return createApprovalRequest(
    {
      tool: "notes_create_page",
      integration: "notes",
      account: "Local notes",
      connection: "con_1",
      arguments: { title: "Shopping" },
      files: [],
      effect: "write",
      title: "Create a page",
      description: "Creates a page.",
      reason: "It writes.",
      principal: "p1",
      ...change,
    },
    { now: Date.now(), ttlMs: 60_000 },
  );
}

describe("createTerminalApprover", () => {
  it.each([
    ["a\n", { type: "approve" }],
    ["approve\n", { type: "approve" }],
    [" D \n", { type: "decline" }],
    ["always\n", { type: "approve", always: true }],
    ["\ny\nyes\na\n", { type: "approve" }],
  ])("reads %j", async (typed, expected) => {
    const request = createRequest();
    input.write(typed);
    const { id, fingerprint } = request;
    expect(await approve(request, { signal })).toEqual({ ...expected, id, fingerprint });
    expect(shown).toContain("Approval needed\nAction    │ Create a page\n");
    expect(shown).toContain("\nApprove?  │ notes_create_page, writes, Local notes\n[a]pprove");
    expect(shown).toContain("[a]pprove, [e]dit, [d]ecline");
  });

  it("never takes an empty line or any other word for a yes", async () => {
    input.write("\ny\nok\n1\nd\n");
    expect((await approve(createRequest(), { signal })).type).toBe("decline");
    expect(shown.match(/Type a, e or d/g)).toHaveLength(4);
  });

  it("leaves the keyboard to Ctrl-C once it has its answer", async () => {
    const raw: boolean[] = [];
    const setRawMode = (isRaw: boolean) => void raw.push(isRaw);
    Object.assign(input, { isTTY: true, setRawMode });
    Object.assign(output, { isTTY: true, columns: 80, rows: 24 });
    const asked = approve(createRequest(), { signal });
    await expect.poll(() => shown).toContain("[a]pprove");
    expect(raw.at(-1)).toBe(true);
    input.write("a\r");
    expect((await asked).type).toBe("approve");
    expect(raw.at(-1)).toBe(false);
  });

  it("offers no edit where there is nothing to edit", async () => {
    input.write("e\nx\nd\n");
    expect((await approve(createRequest({ canEdit: false }), { signal })).type).toBe("decline");
    expect(shown).toContain("\n[a]pprove, [d]ecline, [v]iew all");
    expect(shown).toContain("This cannot be changed here");
    expect(shown).toContain("Type a or d, then Enter.");
  });

  it("offers no standing permission for a delete or without an account", async () => {
    for (const request of [createRequest({ effect: "delete" }), createRequest({ connection: undefined })]) {
      shown = "";
      input.write("always\nd\n");
      expect((await approve(request, { signal })).type).toBe("decline");
      expect(shown).not.toContain("ecline, always");
      expect(shown).toContain("not possible");
    }
  });

  it("shows the edited card and asks again", async () => {
    const request = createRequest();
    input.write('e\n{"title":\n"Groceries"}\na\n');
    expect(await approve(request, { signal })).toEqual({
      type: "edit",
      id: request.id,
      fingerprint: request.fingerprint,
      arguments: { title: "Groceries" },
    });
    expect(shown.match(/Approval needed/g)).toHaveLength(2);
    expect(shown).toContain("title: Groceries");
    expect(shown).toContain("[edited by you");
  });

  it("keeps the call when the edit is no JSON object", async () => {
    input.write("e\nnot json\n\n[1]\n\n\na\n");
    expect((await approve(createRequest(), { signal })).type).toBe("approve");
    expect(shown.match(/not a JSON object/g)).toHaveLength(2);
  });

  it("says beside unfinished JSON what an empty line does", async () => {
    input.write('e\n{"title":\n\n\nd\n');
    expect((await approve(createRequest(), { signal })).type).toBe("decline");
    expect(shown).toMatch(
      /arguments> \n\.\.\. \(an empty line starts over\) \nThat is not.*try again\.\narguments> \n/,
    );
  });

  it("says at once what can never become JSON", async () => {
    input.write('e\n{"title": nope}\n\n\nd\n');
    expect((await approve(createRequest(), { signal })).type).toBe("decline");
    expect(shown).toMatch(/That cannot become a JSON object \(.*nope.*\)\. An empty line starts over\.\n\.\.\./);
  });

  describe("with an editor", () => {
    const opened: string[] = [];
    const edit = async (typed: string, ...saved: (string | undefined)[]) => {
      opened.length = 0;
      const editor = async (text: string) => {
        opened.push(text);
        return saved[opened.length - 1];
      };
      const withEditor = createTerminalApprover({ input, output, editor });
      input.write(typed);
      try {
        return await withEditor(createRequest(), { signal });
      } finally {
        withEditor.close();
      }
    };

    it("takes what was saved, and shows the card of it", async () => {
      expect(await edit("e\na\n", '{ "title": "Groceries" }')).toMatchObject({
        type: "edit",
        arguments: { title: "Groceries" },
      });
      expect(opened).toEqual(['{\n  "title": "Shopping"\n}\n']);
      expect(shown).toContain("title: Groceries");
    });

    it("opens a mistake again as it was left, with what is wrong", async () => {
      const decision = await edit("e\n\na\n", '{ "title": oh }', '{ "title": "Oh" }');
      expect(decision).toMatchObject({ type: "edit", arguments: { title: "Oh" } });
      expect(opened[1]).toBe('{ "title": oh }');
      expect(shown).toMatch(/That is not a JSON object \(.*oh.*\)\./);
    });

    it.each([
      ["nothing was changed", "e\na\n", ['{\n  "title": "Shopping"\n}\n']],
      ["everything was deleted", "e\na\n", ["\n"]],
      ["a mistake is given up", "e\nk\na\n", ["[1]"]],
      ["the editor failed", "e\na\n", [undefined]],
    ])("keeps the arguments when %s", async (_when, typed, saved) => {
      expect(await edit(typed, ...saved)).toMatchObject({ type: "approve" });
      expect(shown).not.toContain("edited by you");
    });
  });

  it("shows the end of its time by the clock of this machine", async () => {
    const request = createRequest();
    input.write("d\n");
    await approve(request, { signal });
    const end = new Date(request.expiresAt);
    const wall = new Date(end.getTime() - end.getTimezoneOffset() * 60_000).toISOString();
    expect(shown).toContain(`Expires   │ ${wall.slice(0, 10)} ${wall.slice(11, 19)}\n`);
  });

  it("gives no decision at the end of input, also for the next request", async () => {
    input.end();
    for (let round = 0; round < 2; round += 1) {
      await expect(approve(createRequest(), { signal })).rejects.toThrow("There was no answer at the terminal.");
    }
  });

  it("shows one card at a time", async () => {
    const first = approve(createRequest({ title: "First" }), { signal });
    const second = approve(createRequest({ title: "Second" }), { signal });
    await expect.poll(() => shown).toContain("First");
    expect(shown).not.toContain("Second");
    input.write("a\nd\n");
    expect((await first).type).toBe("approve");
    expect((await second).type).toBe("decline");
  });

  it("stops waiting when the call is aborted, and the next card works", async () => {
    const stop = new AbortController();
    const asked = approve(createRequest(), { signal: stop.signal });
    await expect.poll(() => shown).toContain("Approval needed");
    stop.abort();
    await expect(asked).rejects.toMatchObject({ name: "AbortError" });
    input.write("d\n");
    expect((await approve(createRequest(), { signal })).type).toBe("decline");
  });

  it("shows what was cut on v", async () => {
    input.write("v\nd\n");
    await approve(createRequest({ arguments: { text: `${"x".repeat(9_000)}THE END` } }), { signal });
    expect(shown.indexOf("[cut: ")).toBeGreaterThan(0);
    expect(shown.indexOf("[cut: ")).toBeLessThan(shown.indexOf("THE END"));
    expect(shown.match(/^Approve\?/gm)).toHaveLength(2);
  });

  it("uses no colour unless asked to", async () => {
    input.write("d\n");
    await approve(createRequest(), { signal });
    expect(shown).not.toContain("\u001b");
    const colored = createTerminalApprover({ input, output, color: true });
    input.write("d\n");
    await colored(createRequest(), { signal });
    expect(shown).toContain("\u001b[1mApproval needed");
    colored.close();
  });
});

describe("on a keyboard", () => {
  it("ignores what was typed before the card, and Ctrl-C aborts", async () => {
    const keyboard = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => keyboard });
    const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
    let seen = "";
    screen.on("data", (chunk) => {
      seen += String(chunk);
    });
    const ask = createTerminalApprover({ input: keyboard, output: screen, color: false });
    const first = ask(createRequest({ title: "First" }), { signal });
    await expect.poll(() => seen).toContain("ecline");
    keyboard.write("a\na\na\n");
    expect((await first).type).toBe("approve");
    seen = "";
    const second = ask(createRequest({ title: "Second" }), { signal });
    await expect.poll(() => seen).toContain("ecline");
    expect(seen.slice(0, seen.indexOf("Approval needed"))).not.toMatch(/ecline|>/);
    keyboard.write("\u0003");
    await expect(second).rejects.toMatchObject({ name: "AbortError" });
    ask.close();
  });
});

describe("createUnattendedApprover", () => {
  it("says on every line that no human answered", async () => {
    const unattended = createUnattendedApprover({ output });
    expect((await unattended(createRequest(), { signal })).type).toBe("approve");
    const lines = shown.trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) expect(line).toMatch(/^\[unattended\] /);
  });

  it("declines when told to", async () => {
    const unattended = createUnattendedApprover({ output, answer: () => "decline" });
    expect((await unattended(createRequest(), { signal })).type).toBe("decline");
    expect(shown).toContain("[unattended] Declined");
  });
});
