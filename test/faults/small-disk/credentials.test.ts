import { expect, test } from "vitest";
import { runOnSmallDisk } from "./small-disk.ts";

const UNWRITABLE = { code: "invalid_config", field: "credentials", hint: expect.stringContaining("space") };

test("a full and a read-only folder of credentials: the key that was there stays, and the next step is said", async () => {
  const steps = await runOnSmallDisk(new URL("credentials-child.ts", import.meta.url), "64k");
  expect(steps).toMatchObject({
    "first write, full": UNWRITABLE,
    "read after it": "nothing",
    write: "done",
    "write, full": UNWRITABLE,
    "read, full": "one",
    "files, full": ["credentials.json"],
    "write, freed": "done",
    "files, freed": ["credentials.json"],
    "write, read-only": UNWRITABLE,
    "clear, read-only": UNWRITABLE,
    "read, read-only": "three",
    "write, writable again": "done",
    "read at last": "five",
  });
});
