import { expect, it } from "vitest";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { checkRandomPages } from "./front-matter-properties.ts";

const temp = useTempFolder();

it("changes a field of three hundred random pages and no other byte", async () => {
  const { changed, refused } = await checkRandomPages(temp(), 300);
  expect(changed).toBeGreaterThan(refused);
});
