import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startInPidNamespace } from "./pid-namespaces.ts";

const CHILD = fileURLToPath(new URL("lock-child.ts", import.meta.url));

test("a lock held in one container is not taken for that of an ended process by another", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-containers-"));
  const lockFile = join(folder, "credentials.json.lock");
  const holder = startInPidNamespace(CHILD, [lockFile, "0"], { folder, id: "high" });
  try {
    await holder.waitFor(/^holds it as process \d{3}$/m);
    const other = startInPidNamespace(CHILD, [lockFile, "0"], { folder });
    await other.waitFor(/^(?:refused|holds it as process 1)$/m);
    other.endInput();
    expect((await other.done).stdout).toBe("refused\n");
    holder.type("enough\n");
    await holder.waitFor(/^gave it back$/m);
  } finally {
    holder.kill("SIGKILL");
    await holder.done;
    await rm(folder, { recursive: true, force: true });
  }
});
