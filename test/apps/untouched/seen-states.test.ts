import { testSeenStates } from "./test-seen-states.ts";

testSeenStates(50);
