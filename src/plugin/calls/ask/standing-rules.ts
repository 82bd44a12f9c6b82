import { z } from "zod";
import type { StateFile } from "../journal/journal.ts";
import type { Effect } from "./request.ts";

const ruleSchema = z.object({ principal: z.string(), tool: z.string(), connection: z.string(), addedAt: z.string() });

/** A human's "always allow this tool on this connection". */
type StandingRule = z.infer<typeof ruleSchema>;
type RuleKey = Pick<StandingRule, "principal" | "tool" | "connection">;

/** A call that a standing permission may cover. */
export interface RuleSubject {
  /** Non-secret id of service and key. */
  readonly principal: string;
  readonly tool: string;
  /** Connection id; a call without a known connection never has a rule. */
  readonly connection: string | undefined;
  readonly effect: Effect;
}

/** Standing permissions, each for one tool on one connection. */
export interface StandingRules {
  /** True when a human allowed this tool on this connection and the tool still only reads or writes. */
  allows(subject: RuleSubject): boolean;
  /** Adds a rule; false when none may exist: delete, admin or unknown effect, or no known connection. */
  allow(subject: RuleSubject): Promise<boolean>;
  /** Revokes a permission; false when there was none. */
  revoke(subject: RuleKey): Promise<boolean>;
  list(): readonly StandingRule[];
}

interface RuleTable {
  list(): readonly StandingRule[];
  /** Keeps an existing rule unchanged. */
  add(rule: StandingRule): Promise<void>;
  remove(key: RuleKey): Promise<boolean>;
}

/**
 * Rules in a state file, or in memory without one. They are read on every lookup, so that a revocation by another
 * process takes effect at once.
 */
export function createStandingRules(state?: StateFile, options: { now?: () => number } = {}): StandingRules {
  const now = options.now ?? Date.now;
  const table = state === undefined ? createHeldRules() : createStoredRules(state);
  return {
    list: () => table.list(),
    allows: (subject) => mayStand(subject) && table.list().some((rule) => isSame(rule, subject)),
    async allow(subject) {
      const { principal, tool, connection } = subject;
      if (!mayStand(subject) || connection === undefined) return false;
      await table.add({ principal, tool, connection, addedAt: new Date(now()).toISOString() });
      return true;
    },
    revoke: (key) => table.remove(key),
  };
}

function mayStand({ effect, connection }: RuleSubject): boolean {
  return connection !== undefined && (effect === "write" || effect === "read");
}

function isSame(rule: RuleKey, subject: Pick<RuleSubject, keyof RuleKey>): boolean {
  return rule.principal === subject.principal && rule.tool === subject.tool && rule.connection === subject.connection;
}

function createHeldRules(): RuleTable {
  let rules: readonly StandingRule[] = [];
  return {
    list: () => rules,
    async add(rule) {
      if (!rules.some((one) => isSame(one, rule))) rules = [...rules, rule];
    },
    async remove(key) {
      const before = rules.length;
      rules = rules.filter((rule) => !isSame(rule, key));
      return rules.length < before;
    },
  };
}

function createStoredRules(state: StateFile): RuleTable {
  const list = state.prepare("SELECT principal, tool, connection, added_at AS addedAt FROM rules ORDER BY rowid");
  const add = state.prepare("INSERT OR IGNORE INTO rules VALUES (?, ?, ?, ?)");
  const remove = state.prepare("DELETE FROM rules WHERE principal = ? AND tool = ? AND connection = ?");
  return {
    list: () => z.array(ruleSchema).parse(list.all()),
    add: ({ principal, tool, connection, addedAt }) =>
      state.change(() => void add.run(principal, tool, connection, addedAt)),
    remove: ({ principal, tool, connection }) =>
      state.change(() => Number(remove.run(principal, tool, connection).changes) > 0),
  };
}

/** The account a human prefers for each integration. Holds only the human's own choices. */
export interface ConnectionMemory {
  find(integration: string): string | undefined | Promise<string | undefined>;
  remember(integration: string, connectionId: string): Promise<void>;
  forget(integration: string): Promise<void>;
}

/**
 * The memory in a state file, or in memory without one. It is read on every lookup, so that a choice made in another
 * process takes effect at once.
 */
export function createConnectionMemory(state?: StateFile): ConnectionMemory {
  if (state === undefined) return createHeldMemory();
  const find = state.prepare("SELECT connection_id FROM accounts WHERE integration = ?");
  const remember = state.prepare("INSERT OR REPLACE INTO accounts VALUES (?, ?)");
  const forget = state.prepare("DELETE FROM accounts WHERE integration = ?");
  return {
    find(integration) {
      const row = find.get(integration);
      return row && String(row.connection_id);
    },
    remember: (integration, id) => state.change(() => void remember.run(integration, id)),
    forget: (integration) => state.change(() => void forget.run(integration)),
  };
}

function createHeldMemory(): ConnectionMemory {
  const connections = new Map<string, string>();
  return {
    find: (integration) => connections.get(integration),
    async remember(integration, id) {
      connections.set(integration, id);
    },
    async forget(integration) {
      connections.delete(integration);
    },
  };
}
