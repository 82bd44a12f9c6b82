import { describeFeedUndo } from "./feed-undo.ts";

describeFeedUndo({ runs: 50, seed: 7 });
