import type { Page } from "playwright-core";

/** Presses Tab until the focused element has this text; fails when the page has no such element. */
export async function tabTo(page: Page, text: string): Promise<void> {
  const seen: string[] = [];
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press("Tab");
    const focused = String(await page.evaluate("document.activeElement?.textContent?.trim() ?? ''"));
    if (focused === text) return;
    seen.push(focused);
  }
  throw new Error(`Tab never reached "${text}": ${seen.join(" / ")}`);
}
