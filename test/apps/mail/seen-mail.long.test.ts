import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { checkBetween, checkWhile } from "./kit/check-maildir.ts";

/** Calls that were approved by what somebody saw of a mailbox, which another mail program changes. */

const temp = useTempFolder();

async function makeFolder(): Promise<string> {
  const maildir = join(temp(), "mail");
  await mkdir(maildir);
  return maildir;
}

it("acts on nothing that changed since it was shown", async () => {
  await checkBetween(await makeFolder(), 1000);
});

it("acts on nothing that changes while it runs", async () => {
  const { ran, refused, half } = await checkWhile(await makeFolder(), 1000);
  expect(Math.min(ran, refused, half)).toBeGreaterThan(0);
  expect(ran + refused + half).toBe(1000);
});
