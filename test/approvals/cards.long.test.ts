import { afterAll, describe, it, vi } from "vitest";
import { closeAll } from "../plugin/calls/open-test-session.ts";
import { EACH_EVERYWHERE, EACH_ONCE, expectAllSeen } from "./cards/describe-cards.ts";
import { DRAWN_PLACES } from "./cards/drawn-places.ts";
import { openInboxPlace, openSdkPlaces, startOpenService } from "./cards/service-places.ts";
import { TERMINAL_CARD } from "./cards/terminal-place.ts";
import { ONLY_PEERS } from "./doors.ts";

/** Every text in every place among the arguments. */

vi.setConfig({ testTimeout: 600_000 });
afterAll(closeAll);

describe("every argument is seen", () => {
  it.skipIf(ONLY_PEERS).each(DRAWN_PLACES)("in $name", (place) => expectAllSeen(place, EACH_EVERYWHERE));

  it.skipIf(ONLY_PEERS)("in a terminal", () => expectAllSeen(TERMINAL_CARD, EACH_ONCE));

  it("in the cards of programs and SDKs that go on later", async () => {
    for (const place of await openSdkPlaces(await startOpenService())) await expectAllSeen(place, EACH_ONCE);
  });

  it.skipIf(ONLY_PEERS)("on the page of the inbox", async () => {
    await expectAllSeen(await openInboxPlace(await startOpenService("owner")), EACH_ONCE);
  });
});
