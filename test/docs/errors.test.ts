import { describe, expect, test } from "vitest";
import { EXIT, EXIT_CODE_HELP } from "../../src/cli/exit-codes.ts";
import type { OutcomeStatus } from "../../src/plugin/calls/outcome.ts";
import { type Judgement, judgeReply } from "../../src/plugin/calls/steps/answer/read-reply.ts";
import { toCanonicalCode } from "../../src/service/executions/summarise-outcome.ts";
import { RPC_CODES } from "../../src/service/mcp/protocol.ts";
import { ServiceError, type ServiceErrorStatus } from "../../src/service/service-error.ts";
import { SVC_ERROR_CODES } from "../../src/shared/errors.ts";
import { CANONICAL_ERROR_CODES, TOOL_ERROR_CODES } from "../../src/shared/wire/execution.ts";
import { findCodesByStatus, findMediaCodes, findOutcomeCodes, findServiceCodes } from "./find-error-codes.ts";
import { readSection, readTable } from "./read-page.ts";

/** docs/errors.md and docs/errors-for-programs.md name every code there is and no other, and say of each what the code does. */

const PAGE = "docs/errors.md";
const FOR_PROGRAMS = "docs/errors-for-programs.md";
const column = (heading: string, index = 0, page = PAGE) => readTable(page, heading).map((row) => row[index] ?? "");
const CALLS = readTable(PAGE, "When a tool is called");
const SENTENCES = readTable(FOR_PROGRAMS, "Sentences without a code");

/** How the page says what each judgement leads to. */
const SAID: Readonly<Record<Judgement["kind"], RegExp>> = {
  success: /(?!)/,
  held: /(?!)/,
  confirmation: /^asks for approval/,
  accounts: /^asks which account/,
  needs_connection: /^shows the connect link/,
  missing_bytes: /^\[uploads the file\]/,
  envelope_refused: /(?!)/,
  arguments: /^(tells the model what to correct|never happens with its own keys)/,
  key: /^tells the model that access is gone/,
  failure: /^(ends as failed|never sees it|ends as unknown|a read is tried again; a write ends as unknown)/,
};

describe("docs/errors.md", () => {
  test("has every status of an outcome", () => {
    const all: Record<OutcomeStatus, 1> = {
      succeeded: 1,
      needs_approval: 1,
      declined: 1,
      needs_connection: 1,
      failed: 1,
      unknown: 1,
    };
    const statuses = Object.keys(all);
    expect(column("Outcomes")).toEqual(statuses);
    for (const status of column("Codes of an outcome", 1)) expect(statuses).toContain(status);
  });

  test("has every code that the plugin gives an outcome", () => {
    expect(column("Codes of an outcome").sort()).toEqual([...findOutcomeCodes()].sort());
  });

  test("has the names of answers without a code", () => {
    const said = readSection(PAGE, "Codes of an outcome").matchAll(/`(\w+)`\s\((\d{3})\)/g);
    expect(new Map([...said].map(([, code = "", status = ""]) => [code, status]))).toEqual(findCodesByStatus());
  });

  test("has every thrown code", () => {
    expect(column("Thrown errors", 0, FOR_PROGRAMS)).toEqual([...SVC_ERROR_CODES].sort());
  });

  test("has every reason not to send a file, in the order of the code", () => {
    expect(column("Refused files")).toEqual(findMediaCodes());
  });

  test("has every code of the service, with its HTTP statuses", () => {
    const said = new Map<string, Set<number>>();
    for (const [code = "", statuses = ""] of [...CALLS, ...SENTENCES]) {
      const all = said.get(code) ?? new Set();
      for (const status of statuses.split(", ")) all.add(Number(status));
      said.set(code, all);
    }
    const sorted = (map: ReadonlyMap<string, ReadonlySet<number>>) =>
      [...map].map(([code, statuses]) => `${code} ${[...statuses].sort().join(", ")}`).sort();
    expect(sorted(said)).toEqual(sorted(findServiceCodes()));
  });

  test("has the codes of the API document among them", () => {
    expect(CALLS.map(([code]) => code)).toEqual(expect.arrayContaining([...TOOL_ERROR_CODES]));
    expect(column("`error_code` of a summary", 0, FOR_PROGRAMS)).toEqual([...CANONICAL_ERROR_CODES]);
  });

  test.each(CALLS)("says of %s (%s) what its error_code is and what becomes of it", (...row) => {
    const [code = "", statuses = "", canonical, , doing = ""] = row;
    const status = Number(statuses.split(",")[0]) as ServiceErrorStatus;
    expect(toCanonicalCode(new ServiceError(status, code, ""))).toBe(canonical);
    const error = { code, message: "" };
    const envelope = { ok: false, error, canonical: { error_code: canonical } };
    const reply = { kind: "envelope", status, envelope } as const;
    const { kind } = judgeReply({ reply, confirmed: false, hasEnvelope: false });
    expect(doing).toMatch(SAID[kind]);
    // What a read is tried again for is answered with one of these.
    if (doing.includes("a read is tried again")) expect([429, 503]).toContain(status);
  });

  test("has every code of the protocol", () => {
    expect(column("MCP", 0, FOR_PROGRAMS).map(Number).sort()).toEqual([...Object.values(RPC_CODES)].sort());
  });

  test("has every exit code, as the help has", () => {
    expect(column("Exit codes").map(Number)).toEqual(Object.values(EXIT));
    const help = [...EXIT_CODE_HELP.matchAll(/^ {2}(\d+) +([a-z ]+)/gm)].map(([, code]) => code);
    expect(column("Exit codes")).toEqual(help);
  });
});
