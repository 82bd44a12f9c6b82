import { once } from "node:events";
import { withWriteLock } from "../../../src/shared/base/write-lock.ts";
import { isSvcError } from "../../../src/shared/errors.ts";

/** Takes a lock and holds it until it is typed to, or says that another process has it. */

const [lockFile = "", giveUpAfterMs = ""] = process.argv.slice(2);
try {
  await withWriteLock(
    lockFile,
    async () => {
      console.log(`holds it as process ${process.pid}`);
      await once(process.stdin, "data");
    },
    { staleAfterMs: 60_000, giveUpAfterMs: Number(giveUpAfterMs) },
  );
  console.log("gave it back");
} catch (error) {
  if (!isSvcError(error)) throw error;
  console.log("refused");
}
process.stdin.destroy();
