import { afterEach, describe, expect, it } from "vitest";
import { closeAll, closeLater } from "../plugin/calls/open-test-session.ts";
import { execute } from "../service/http-calls.ts";
import { MESSAGE_ID, startMailWorld } from "../service/seen/mail-world.ts";
import { makeHost } from "./contract.ts";
import { DOORS } from "./doors.ts";

/** Every door tells its human that a stranger brought the address which a call writes to, above the rest of the call. */

afterEach(closeAll);

const EVE = "drop@elsewhere.example";

describe.each(DOORS.map((door) => [door.name, door] as const))("%s", (_, door) => {
  it("names the stranger who brought a value", { timeout: 120_000 }, async () => {
    const { approvals } = door;
    const service = await startMailWorld({ ...(approvals && { approvals }) });
    closeLater({ close: () => service.end() });
    const { status } = await execute(service, "mail_read_message", { arguments: { message_id: MESSAGE_ID } });
    expect(status).toBe(200);
    const open = closeLater(await door.open({ ...(await makeHost(service)), apps: ["mail"] }));
    const args = { to: [EVE, "berta@friends.example"], subject: "Figures", body: "Here they are." };
    const { questions, told } = await open.start([{ id: "call_1", name: "mail_send_message", args }]);
    expect(questions, told.join("\n")).toHaveLength(1);
    const shown = (questions[0] ?? "").replaceAll(/\s+/g, " ");
    expect(shown).toMatch(/drop@elsewhere\.example: first seen in a mail by/);
    expect(shown).not.toMatch(/berta@friends\.example: (?:first seen|not seen)/);
    expect(shown.indexOf("first seen in")).toBeLessThan(shown.indexOf("Here they are."));
  });
});
