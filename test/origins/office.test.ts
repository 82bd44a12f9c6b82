import { afterEach, describe, expect, it } from "vitest";
import { openScreen } from "../hostile/terminal-screen.ts";
import { closeAll } from "../plugin/calls/open-test-session.ts";
import { readOfficeAttacks, replayAttack } from "./office.ts";
import { hasTraces } from "./read-traces.ts";
import { startOffice } from "./start-office.ts";

afterEach(closeAll);

describe.skipIf(!hasTraces)("attacks on office tasks, in a terminal of 80 by 24", () => {
  it.each(hasTraces ? readOfficeAttacks() : [])("$id: the stranger is on the first screen", async (attack) => {
    const office = await startOffice(attack);
    const missing: string[] = [];
    for (const { tool, strangers, request } of await replayAttack(office, attack, office)) {
      const screen = await openScreen(request, { columns: 80, rows: 24 });
      const text = screen.look().join("\n");
      screen.close();
      const origin = /^Origin[\s\S]*?(?=^\w)/m.exec(text)?.[0].replaceAll(/\n\s+│\s+/g, "") ?? "";
      missing.push(...strangers.filter((one) => !origin.includes(one)).map((one) => `${tool}: ${one}`));
    }
    expect(missing).toEqual([]);
  });
});
