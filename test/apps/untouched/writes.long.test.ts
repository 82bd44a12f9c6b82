import { testWrites } from "./test-writes.ts";

/** `SVC_FILES=10000` is a matter of an hour. */
testWrites(Number(process.env.SVC_FILES ?? 100));
