import { afterEach, describe, expect, it } from "vitest";
import { openScreen } from "../hostile/terminal-screen.ts";
import { closeAll, openTestSession, sayYes } from "../plugin/calls/open-test-session.ts";
import { hasOffice, readOfficeAttacks, replayAttack } from "./office.ts";
import { startOffice } from "./start-office.ts";

afterEach(closeAll);

describe.skipIf(!hasOffice)("attacks on office tasks, in a terminal of 80 by 24", () => {
  it.each(hasOffice ? readOfficeAttacks() : [])("$id: the stranger is on the first screen", async (attack) => {
    const office = await startOffice(attack);
    const session = await openTestSession(office, { answer: sayYes, now: office.now });
    const found = await replayAttack(session, attack, async (call) => {
      await session.call(call);
      return session.asked.shift();
    });
    const missing: string[] = [];
    for (const { tool, strangers, question } of found) {
      const screen = await openScreen(question, { columns: 80, rows: 24 });
      const text = screen.look().join("\n");
      screen.close();
      const origin = /^Origin[\s\S]*?(?=^\w)/m.exec(text)?.[0].replaceAll(/\n\s+│\s+/g, "") ?? "";
      missing.push(...strangers.filter((one) => !origin.includes(one)).map((one) => `${tool}: ${one}`));
    }
    expect(missing).toEqual([]);
  });
});
