import { readFileSync } from "node:fs";
import { z } from "zod";
import { replaceFile } from "./replace-file.ts";
import type { Effect } from "./request.ts";
import { takeTurns } from "./take-turns.ts";

const ruleSchema = z.object({ principal: z.string(), tool: z.string(), connection: z.string(), addedAt: z.string() });
const fileSchema = z.object({ version: z.literal(1), rules: z.array(ruleSchema) });

/** "Always allow this tool on this connection", as a human said it. */
type StandingRule = z.infer<typeof ruleSchema>;

/** What a rule is looked up by. */
export interface RuleSubject {
  /** Non-secret id of service and key. */
  readonly principal: string;
  readonly tool: string;
  /** Connection id; a call without a known connection never has a rule. */
  readonly connection: string | undefined;
  readonly effect: Effect;
}

/** The standing permissions of this machine. */
export interface StandingRules {
  /** True when a human allowed this tool on this connection and the tool still only reads or writes. */
  allows(subject: RuleSubject): boolean;
  /** Adds a rule; false when none may exist: delete, admin or unknown effect, or no known connection. */
  allow(subject: RuleSubject): Promise<boolean>;
  /** Takes a permission back; false when there was none. */
  revoke(subject: Pick<StandingRule, "principal" | "tool" | "connection">): Promise<boolean>;
  list(): readonly StandingRule[];
  /** Set when the file cannot be read: no rule counts then. */
  readonly problem: string | undefined;
}

/**
 * Opens the rules in `file` (JSON, mode 0600, replaced atomically); without a file they last as long as the process.
 * The file is read anew each time: what a human took back in another process, or by deleting it, counts at once, and
 * no other process brings it back.
 */
export async function openStandingRules(file?: string, options: { now?: () => number } = {}): Promise<StandingRules> {
  const now = options.now ?? Date.now;
  let held: readonly StandingRule[] = [];
  const load = () => (file === undefined ? { rules: held, problem: undefined } : readRules(file));
  const save = async (changed: readonly StandingRule[]) => {
    if (file !== undefined) await replaceFile(file, `${JSON.stringify({ version: 1, rules: changed }, null, 2)}\n`);
    held = changed;
  };
  const inTurn = takeTurns(file);
  return {
    get problem() {
      return load().problem;
    },
    list: () => load().rules,
    allows: (subject) => mayStand(subject) && load().rules.some((rule) => isFor(rule, subject)),
    async allow(subject) {
      const { principal, tool, connection } = subject;
      if (!mayStand(subject) || connection === undefined) return false;
      return inTurn(async () => {
        const { rules } = load();
        if (rules.some((rule) => isFor(rule, subject))) return true;
        await save([...rules, { principal, tool, connection, addedAt: new Date(now()).toISOString() }]);
        return true;
      });
    },
    revoke: (subject) =>
      inTurn(async () => {
        const { rules } = load();
        const kept = rules.filter((rule) => !isFor(rule, subject));
        if (kept.length === rules.length) return false;
        await save(kept);
        return true;
      }),
  };
}

function mayStand({ effect, connection }: RuleSubject): boolean {
  return connection !== undefined && (effect === "write" || effect === "read");
}

function isFor(rule: StandingRule, subject: Pick<RuleSubject, "principal" | "tool" | "connection">): boolean {
  return rule.principal === subject.principal && rule.tool === subject.tool && rule.connection === subject.connection;
}

function readRules(file: string): { rules: StandingRule[]; problem: string | undefined } {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    return { rules: [], problem: isMissing ? undefined : "The file of standing permissions cannot be read." };
  }
  try {
    return { rules: fileSchema.parse(JSON.parse(text)).rules, problem: undefined };
  } catch {
    return { rules: [], problem: "The file of standing permissions is damaged; every call is asked about again." };
  }
}
