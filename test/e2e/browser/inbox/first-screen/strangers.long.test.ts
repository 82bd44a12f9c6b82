import { afterEach, describe, expect, it } from "vitest";
import { hasOffice, readOfficeAttacks, replayAttack } from "../../../../origins/office.ts";
import { startOffice } from "../../../../origins/start-office.ts";
import { closeAll, openTestSession } from "../../../../plugin/calls/open-test-session.ts";
import { call as request } from "../../../../service/http-calls.ts";
import { useDesk } from "../../sign-in/desk.ts";
import { seeScreen } from "./see-screen.ts";

const desk = useDesk();
afterEach(closeAll);

describe.skipIf(!hasOffice)("attacks on office tasks, on a phone of 390 by 844", () => {
  it.each(hasOffice ? readOfficeAttacks() : [])("$id: the stranger is on the first screen", async (attack) => {
    const office = await startOffice(attack, { approvals: "owner" });
    const page = await desk.openPage(office, { colorScheme: "light", width: 390 });
    const session = await openTestSession(office, { approve: "owner", now: office.now });
    const findWaiting = async (): Promise<string | undefined> =>
      (await request(`${office.url}/api/approvals?status=pending`, { key: office.apiKey })).json.approvals[0]?.id;
    const found = await replayAttack(session, attack, async (call) => {
      let isOver = false;
      const ended = session.call(call).finally(() => {
        isOver = true;
      });
      let id: string | undefined;
      while (!isOver && id === undefined) id = await findWaiting();
      if (id === undefined) return void (await ended);
      await page.goto(`${office.url}/inbox/${id}`);
      const { text } = await seeScreen(page);
      await page.getByRole("button", { name: "Approve", exact: true }).click();
      await ended;
      return text;
    });
    const missing = found.flatMap(({ tool, strangers, question }) =>
      strangers.filter((one) => !question.includes(one)).map((one) => `${tool}: ${one}`),
    );
    expect(missing).toEqual([]);
  });
});
