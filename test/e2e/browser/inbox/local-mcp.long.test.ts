import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService } from "../../../../src/testing.ts";
import { connectClient, makeHome, svcMcp } from "../../../plugin/runtimes/mcp/mcp-client.ts";
import { findBarriers, launchChromium, openWindow, signIn } from "../chromium.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

test("a local file of 20 MB that an MCP client sends by svc mcp is seen and approved on a phone", async () => {
  const service = await startTestService({ approvals: "owner" });
  const { home, media, remove } = await makeHome();
  const client = await connectClient(svcMcp(home, service));
  const page = await openWindow(browser, { colorScheme: "light", width: 390 });
  try {
    const send = async (name: string) => {
      const file = join(media, name);
      await writeFile(file, Buffer.alloc(20_000_000, name));
      const upload = { name: "drive_upload_file", arguments: { file, folder: "Films" } };
      const told: string[] = [];
      const made = client.call("svc_call_tool", upload, { onprogress: ({ message = "" }) => told.push(message) });
      await expect.poll(() => told.at(-1), { timeout: 20_000 }).toContain("/inbox/");
      return { made, link: told.at(-1)?.split(": ").at(-1) ?? "" };
    };
    await signIn(page, await service.service.signInUrl());
    const film = await send("film.bin");
    await page.goto(film.link);
    expect(await page.locator("main").textContent()).toMatch(/film\.bin.*20,000,000 bytes/s);
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    expect(await film.made).toMatchObject({
      status: "succeeded",
      result: { path: "Films/film.bin", size: 20_000_000 },
    });
    const other = await send("other.bin");
    await page.goto(other.link);
    await page.getByLabel(/Reason for the agent/).fill("Too large for me.");
    await page.getByRole("button", { name: "Decline", exact: true }).click();
    const declined = await other.made;
    expect(declined).toMatchObject({ isError: true, status: "declined" });
    expect(declined.message).toContain("Too large for me.");
    expect(await service.effects()).toHaveLength(1);
  } finally {
    await page.context().close();
    await client.close();
    await service.close();
    await remove();
  }
});
