import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import { startProbeService } from "../contract/probe-service.ts";
import { watchProcess } from "../e2e/watch-process.ts";
import { choose } from "./kit/fault-form.ts";

/** A session that calls for long: what it holds in memory, in handles and on disk stays what it was. */

const CHILD = fileURLToPath(new URL("kit/soak-child.ts", import.meta.url));
const SECONDS = Number(process.env.SVC_SOAK_SECONDS ?? choose({ short: 12, long: 3_600 }));
const LOOKS = choose({ short: 4, long: 60 });
const MIB = 1024 * 1024;
/** The journal keeps up to 10,000 calls in memory; within those, each write may leave this much behind. */
const BYTES_PER_WRITE = 4 * 1024;
const KEPT_WRITES = 10_000;

const folderSchema = z.object({ files: z.number(), bytes: z.number() });
const lookSchema = z.object({
  calls: z.number(),
  failed: z.number(),
  heap: z.number(),
  outside: z.number(),
  resources: z.number(),
  handles: z.number(),
  journal: folderSchema,
  results: folderSchema,
  catalog: folderSchema,
});

test(
  `calls for ${SECONDS} s leave nothing behind`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-soak-"));
    const service = await startProbeService();
    try {
      const args = [CHILD, service.url, service.apiKey, join(folder, "state"), String(SECONDS), String(LOOKS)];
      const { code, stdout, stderr } = await watchProcess(process.execPath, args, {
        env: { ...process.env, TMPDIR: folder },
      }).done;
      expect([code, stderr]).toEqual([0, ""]);
      const looks = stdout
        .trim()
        .split("\n")
        .map((line) => lookSchema.parse(JSON.parse(line)));
      const [first, last] = [looks[0], looks.at(-1)];
      if (first === undefined || last === undefined) throw new Error("Nobody looked.");
      for (const { calls, heap, handles, journal } of looks) {
        console.log(
          `${calls} calls: heap ${(heap / MIB).toFixed(1)} MiB, ${handles} handles, journal ${journal.bytes} B`,
        );
      }
      expect(last.failed).toBe(0);
      expect(last.calls).toBeGreaterThan(2 * first.calls);
      const writes = Math.min((last.calls - first.calls) / 10, KEPT_WRITES);
      expect(last.heap + last.outside).toBeLessThan(first.heap + first.outside + 6 * MIB + writes * BYTES_PER_WRITE);
      expect(last.handles).toBeLessThanOrEqual(first.handles + 8);
      expect(last.resources).toBeLessThanOrEqual(first.resources + 8);
      // The file, and what SQLite keeps beside it while it is open.
      expect(last.journal.files).toBeLessThanOrEqual(3);
      expect(last.journal.bytes).toBeLessThan(64 * MIB);
      expect(last.results.files).toBeLessThanOrEqual(50);
      // The file, and at that moment perhaps one that takes its place; afterwards the file alone.
      expect(last.catalog.files).toBeLessThanOrEqual(2);
      expect(await readdir(join(folder, "state", "catalog"))).toHaveLength(1);
    } finally {
      await service.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
  2 * SECONDS * 1_000 + 60_000,
);
