import type { S3Object } from "../../../service/files/s3-listing.ts";
import { createGate } from "../../../shared/base/concurrency.ts";

const AT_ONCE = 8;

/** Works on several objects at once; after a failure nothing more is begun, and it is thrown when the rest has ended. */
export async function forEachObject(
  objects: readonly S3Object[],
  work: (object: S3Object) => Promise<void>,
): Promise<void> {
  const gate = createGate(AT_ONCE);
  let failed = false;
  const ended = await Promise.allSettled(
    objects.map((object) =>
      gate.run(async () => {
        // After a failure nothing more is begun.
        if (failed) return;
        await work(object).catch((error: unknown) => {
          failed = true;
          throw error;
        });
      }),
    ),
  );
  for (const one of ended) if (one.status === "rejected") throw one.reason;
}
