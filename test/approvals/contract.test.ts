import { describeDoor } from "./contract.ts";
import { DOORS } from "./doors.ts";

for (const door of DOORS) describeDoor(door);
