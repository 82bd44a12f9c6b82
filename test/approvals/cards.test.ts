import { afterAll, describe, expect, it } from "vitest";
import { closeAll } from "../plugin/calls/open-test-session.ts";
import { EACH_ONCE, expectAllSeen, spread } from "./cards/describe-cards.ts";
import { DRAWN_PLACES } from "./cards/drawn-places.ts";
import { openInboxPlace, openSdkPlaces, startOpenService } from "./cards/service-places.ts";
import { TERMINAL_CARD } from "./cards/terminal-place.ts";
import { ONLY_PEERS } from "./doors.ts";
import { sampleTexts } from "./texts/card-texts.ts";

/** Every argument of every card is seen whole, or the card says NOT COMPLETE and how to see the rest. */

afterAll(closeAll);

describe("every argument is seen", () => {
  it.skipIf(ONLY_PEERS).each(DRAWN_PLACES)("in $name", async (place) => {
    expect(EACH_ONCE.length).toBeGreaterThan(500);
    await expectAllSeen(place, EACH_ONCE);
  });

  it.skipIf(ONLY_PEERS)("in a terminal", () => expectAllSeen(TERMINAL_CARD, spread(sampleTexts(3))));

  it("in the cards of programs and SDKs that go on later", async () => {
    for (const place of await openSdkPlaces(await startOpenService()))
      await expectAllSeen(place, spread(sampleTexts(5)));
  });

  it.skipIf(ONLY_PEERS)("on the page of the inbox", async () => {
    await expectAllSeen(await openInboxPlace(await startOpenService("owner")), spread(sampleTexts(5)));
  });
});
