import type { RaisedLevel } from "../../shared/wire/call-level.ts";
import { putAwaySchema } from "../port/put-away.ts";
import { deletesWhen, given, MASS, mass } from "../port/raised-levels.ts";

const PUTS_AWAY = "moves messages to where they are thrown away or hidden";
const TOO_MANY = `changes more than ${MASS} messages at once`;

/** Calls about many messages count as deleting. */
export const MANY = deletesWhen(TOO_MANY, mass("message_ids"));

/** So do calls that move messages into a folder that is for what is thrown away. */
export const PUTTING_AWAY = deletesWhen(PUTS_AWAY, given("folder", putAwaySchema));

/** The same of a change whose messages and folders are known. */
export function raiseChange(o: { readonly count: number; readonly isPutAway: boolean }): RaisedLevel | undefined {
  if (o.isPutAway) return { level: "delete", says: PUTS_AWAY };
  return o.count > MASS ? { level: "delete", says: TOO_MANY } : undefined;
}
