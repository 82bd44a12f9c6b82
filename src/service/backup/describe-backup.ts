import { isRecord, parseJson } from "../../shared/base/json.ts";
import { toPlainText } from "../../shared/card/plain-text.ts";
import { openSqlite } from "../store/open-sqlite.ts";

/** What a service does, and whom it lets in, that is started on a restored backup: one line each, safe to print. */
export interface BackupPowers {
  /** Programs that it starts: MCP servers that were added with a command. */
  readonly programs: readonly string[];
  /** People who may sign in, with their role and number of passkeys. */
  readonly people: readonly string[];
  /** Keys of devices and installed clients that work. */
  readonly keys: readonly string[];
  /** Apps that may sign in by OAuth. */
  readonly apps: readonly string[];
  /** Rules that let calls run without a question. */
  readonly allowed: readonly string[];
}

type Row = Readonly<Record<string, unknown>>;

/** Reads the database of a backup, also of an earlier version: what that has no table for, it does not have. */
export function describePowers(file: string): BackupPowers {
  const database = openSqlite(file);
  const list = (table: string, sql: string, write: (row: Row) => string | undefined) => {
    const known = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?").get(table);
    const rows = known === undefined ? [] : (database.prepare(sql).all() as Row[]);
    return rows.flatMap((row) => write(row) ?? []).map((line) => toPlainText(line, { max: 300 }));
  };
  try {
    return {
      programs: list("integration_sources", "SELECT slug, definition FROM integration_sources", writeProgram),
      people: list(
        "people",
        "SELECT name, role, (SELECT count(*) FROM passkeys WHERE person_id = people.id) AS passkeys FROM people WHERE removed_at IS NULL",
        ({ name, role, passkeys }) => `${name} (${role}, ${passkeys} passkeys)`,
      ),
      keys: list("api_keys", "SELECT label, client FROM api_keys WHERE revoked_at IS NULL", writeKey),
      apps: list(
        "oauth_records",
        "SELECT payload FROM oauth_records WHERE model = 'Client' AND EXISTS (SELECT 1 FROM oauth_records AS g WHERE g.model = 'Grant' AND json_extract(g.payload, '$.clientId') = json_extract(oauth_records.payload, '$.client_id'))",
        ({ payload }) => nameApp(parseJson(String(payload))),
      ),
      allowed: list("rules", "SELECT content FROM rules", ({ content }) => writeRule(parseJson(String(content)))),
    };
  } finally {
    database.close();
  }
}

function writeProgram({ slug, definition }: Row): string | undefined {
  const given = parseJson(String(definition));
  if (!isRecord(given) || typeof given.command !== "string") return undefined;
  const args = Array.isArray(given.args) ? given.args.map(String) : [];
  return `${slug}: ${[given.command, ...args].join(" ")}`;
}

function writeKey({ label, client }: Row): string {
  return client === null ? String(label) : `${label} (${client})`;
}

function nameApp(client: unknown): string | undefined {
  if (!isRecord(client)) return undefined;
  return String(client.client_name ?? client.client_id);
}

function writeRule(content: unknown): string | undefined {
  if (!isRecord(content) || content.effect !== "allow") return undefined;
  return ["allow", content.tool, content.level, content.account && `account ${content.account}`]
    .filter(Boolean)
    .join(" ");
}
