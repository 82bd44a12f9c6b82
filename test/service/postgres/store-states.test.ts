import { afterAll, beforeAll, expect, test } from "vitest";
import { startPostgres, type TestPostgres } from "../../suites/start-postgres.ts";
import { CHANGES, expectNoticed, expectUseUnnoticed, openTwo } from "../store/watched-changes.ts";

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
}, 120_000);
afterAll(() => postgres?.stop());

test.each(CHANGES)("the state of a database is another one when %s", async (_name, change) => {
  const two = await openTwo(await postgres.createDatabase());
  await expectNoticed(two, change);
  await two.close();
});

test("it stays the same when a key is used", async () => {
  const two = await openTwo(await postgres.createDatabase());
  await expectUseUnnoticed(two);
  await two.close();
});

test("looks at the same time share a read, and each sees what was committed before it", async () => {
  const two = await openTwo(await postgres.createDatabase());
  for (let round = 0; round < 20; round += 1) {
    const early = Array.from({ length: 5 }, () => two.read());
    await two.store
      .updateTable("connections")
      .set({ label: `Round ${round}` })
      .execute();
    const late = await Promise.all(Array.from({ length: 5 }, () => two.read()));
    const now = await two.read();
    expect(late.every((state) => state === now)).toBe(true);
    await Promise.all(early);
  }
  await two.close();
});
