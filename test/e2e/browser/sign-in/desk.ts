import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll } from "vitest";
import type { TestService } from "../../../../src/testing.ts";
import { type Look, launchChromium, openWindow, signIn } from "../chromium.ts";

/** Where an owner sits: a browser for all tests of a file, and things that each test opens. */
export function useDesk(flags: readonly string[] = []) {
  let browser: Browser;
  const opened: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    browser = await launchChromium(flags);
  });
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });
  afterAll(() => browser?.close());
  return {
    /** Closes it after the test, the last one first. */
    keep<T extends { close(): Promise<unknown> }>(thing: T): T {
      opened.push(() => thing.close());
      return thing;
    },
    /** A window in which the owner is signed in. */
    async openPage(service: TestService, look: Look = { colorScheme: "light", width: 1280 }): Promise<Page> {
      const page = await openWindow(browser, look);
      opened.push(() => page.context().close());
      await signIn(page, await service.service.signInUrl());
      return page;
    },
  };
}
