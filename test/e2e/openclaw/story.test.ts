import { afterAll, describe, expect, test, vi } from "vitest";
import { tellOfGrowing } from "./story/growing.ts";
import { tellOfLeaving } from "./story/leaving.ts";
import { tellOfPairing } from "./story/pairing.ts";
import { openStory, type Story, WHERE } from "./story/story.ts";
import { tellOfUploads } from "./story/uploads.ts";

/** What a new user does, from the tarball on; each test goes on where the one before stopped. */

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

let opened: Story | undefined;
const story = () => opened ?? expect.fail("The plugin was not installed.");

afterAll(() => opened?.close());

describe(`a new user ${WHERE}`, () => {
  test("installs from the packed tarball", async () => {
    opened = await openStory();
  });
  tellOfPairing(story);
  tellOfUploads(story);
  tellOfGrowing(story);
  tellOfLeaving(story);
});
