import { testWrites } from "./test-writes.ts";

testWrites(5);
