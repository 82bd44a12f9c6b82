import { describeUndo } from "../notes/check-undo.ts";
import { openNotionUndo } from "./notion-undo-place.ts";

describeUndo("Notion", openNotionUndo, 1000);
