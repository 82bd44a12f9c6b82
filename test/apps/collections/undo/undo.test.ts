import { testUndo } from "./test-undo.ts";

testUndo(60);
