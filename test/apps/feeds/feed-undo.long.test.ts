import { describeFeedUndo } from "./feed-undo.ts";

describeFeedUndo({ runs: 1000, seed: 11 });
