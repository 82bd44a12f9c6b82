import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import type { ToolOutcome } from "../../src/plugin/calls/outcome.ts";
import { type ProbeService, startProbeService } from "../contract/probe-service.ts";
import { choose, isLongForm } from "./kit/fault-form.ts";
import { checkOutcome, type FaultSession, nameOutcome, openFaultSession } from "./kit/fault-lab.ts";
import { createOutcomeTable } from "./kit/outcome-table.ts";

/** A thousand calls at the same time, through one session and through several. */

const CALLS = 1_000;
/** Every how many calls there is a write; a write waits for two disks several times. */
const WRITE_EVERY = choose({ short: 5, long: 1 });
const table = createOutcomeTable("sessions, call");

let service: ProbeService;
const sessions: FaultSession[] = [];

beforeEach(async () => {
  service = await startProbeService();
});
afterEach(async () => {
  for (const { close } of sessions.splice(0)) await close();
  await service.close();
});
afterAll(() => {
  if (isLongForm) console.log(table.print());
});

test.each([1, 5])(
  `${CALLS} calls at once through %i sessions: each ends, and each write acts once`,
  async (count) => {
    for (let session = 0; session < count; session += 1) sessions.push(await openFaultSession(service));
    const call = async (turn: number): Promise<ToolOutcome> => {
      const isWrite = turn % WRITE_EVERY === 0;
      const toolName = isWrite ? "probe_write_text" : "probe_echo";
      const session = sessions[turn % count]?.session;
      if (session === undefined) throw new Error("There is no session.");
      const outcome = await session.call({ callId: `call ${turn}`, toolName, arguments: { text: `text ${turn}` } });
      table.add(`${count}, ${toolName}`, nameOutcome(outcome));
      return outcome;
    };
    const outcomes = await Promise.all(Array.from({ length: CALLS }, (_, turn) => call(turn)));
    const effects = new Map<string, number>();
    for (const { action, args } of service.probe.calls) {
      if (action === "write_text") effects.set(String(args.text), (effects.get(String(args.text)) ?? 0) + 1);
    }
    for (const [turn, outcome] of outcomes.entries()) {
      if (turn % WRITE_EVERY === 0) checkOutcome(outcome, effects.get(`text ${turn}`) ?? 0, `call ${turn}`);
      expect(outcome, `call ${turn}: ${outcome.message}`).toMatchObject({
        status: "succeeded",
        result: { args: { text: `text ${turn}` } },
      });
    }
  },
  120_000,
);
