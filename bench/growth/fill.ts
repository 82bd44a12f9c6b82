import { type RawBuilder, sql } from "kysely";
import { isShared, type Store } from "../../src/service/store/open-store.ts";

/** The number of a copy. */
export const I = sql.raw("n.i");

/** A text that ends with the number of the copy. */
export function numbered(start: string): RawBuilder<unknown> {
  return sql`${sql.lit(start)} || ${I}`;
}

/** A time as rows keep it: `step` seconds after the copy before, counted from `from` (milliseconds since the epoch). */
export function spacedTime(store: Store, from: number, step: number): RawBuilder<unknown> {
  const seconds = sql`${sql.lit(from / 1000)} + ${I} * ${sql.lit(step)}`;
  return isShared(store)
    ? sql`to_char(to_timestamp(${seconds}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
    : sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${seconds}, 'unixepoch')`;
}

/** Copies the rows of a table that `where` names so often, each copy with other values in some columns. */
export async function copyRows(
  store: Store,
  table: string,
  o: { count: number; where: RawBuilder<unknown>; change: Readonly<Record<string, RawBuilder<unknown>>> },
): Promise<void> {
  if (o.count < 1) return;
  const { rows } = await sql<object>`select * from ${sql.table(table)} limit 1`.execute(store);
  const columns = Object.keys(rows[0] ?? {});
  const values = columns.map((column) => o.change[column] ?? sql.ref(`o.${column}`));
  await sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(o.count)})
    insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
    select ${sql.join(values)} from n, ${sql.table(table)} as o where ${o.where}`.execute(store);
}
