import { createInterface } from "node:readline";
import { openFaultSession } from "../kit/fault-lab.ts";

/**
 * One of several containers on one state folder. Makes the write "pay 100" under each id that it reads, and prints what
 * its human was asked and what came of it. The human agrees, unless the payment may already have been made.
 */

const [url = "", stateDir = ""] = process.argv.slice(2);
const { session } = await openFaultSession(
  { url, apiKey: "svc_live_test" },
  {
    stateDir,
    approve: async ({ id, fingerprint, reason }) => {
      const isWarned = reason.includes("may already have happened");
      console.log(isWarned ? "asked with the warning" : "asked");
      return { type: isWarned ? "decline" : "approve", id, fingerprint };
    },
  },
);
console.log(`open as process ${process.pid}`);
for await (const callId of createInterface({ input: process.stdin })) {
  void session
    .call({ callId, toolName: "bank_pay", arguments: { text: "pay 100" } })
    .then(({ status }) => console.log(`${status} ${callId}`));
}
