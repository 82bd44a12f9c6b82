import { expect, test } from "vitest";
import { builtInIntegrations } from "../../src/apps/built-in.ts";

test("every write of a built-in app can be looked at before it is made", () => {
  const writes = builtInIntegrations.flatMap(({ slug, actions }) =>
    actions.filter(({ level }) => level !== "read").map(({ id, preview }) => ({ tool: `${slug}_${id}`, preview })),
  );
  expect(writes.length).toBeGreaterThan(20);
  expect(writes.filter(({ preview }) => preview === undefined)).toEqual([]);
});
