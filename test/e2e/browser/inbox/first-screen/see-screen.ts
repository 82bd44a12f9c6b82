import type { Page } from "playwright-core";

/** What somebody sees of a page who does not scroll. */
interface FirstScreen {
  /** Words in the window that nothing lies over, with single blanks. */
  readonly text: string;
  /** Buttons that are wholly inside the window, by name. */
  readonly buttons: readonly string[];
}

/** Runs in the page: a word counts when each of its boxes is seen whole, above the bar with the buttons. */
const SEE = `(() => {
  const { innerWidth, innerHeight } = window;
  const bar = document.querySelector(".reach")?.getBoundingClientRect();
  const isIn = (box, end) => box.width > 1 && box.height > 1 && box.top >= 0 && box.bottom <= end && box.left >= 0 && box.right <= innerWidth;
  const words = [];
  const range = document.createRange();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const isShown = node.parentElement.checkVisibility({ contentVisibilityAuto: true, opacityProperty: true, visibilityProperty: true });
    if (!isShown || node.parentElement.closest(".hidden, .reach") !== null) continue;
    for (const { 0: word, index } of node.data.matchAll(/\\S+/g)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const boxes = [...range.getClientRects()];
      if (boxes.length > 0 && boxes.every((box) => isIn(box, bar?.top ?? innerHeight))) words.push(word);
    }
  }
  const buttons = [...document.querySelectorAll("button")].filter((one) => isIn(one.getBoundingClientRect(), innerHeight)).map((one) => one.textContent);
  return { text: words.join(" "), buttons };
})()`;

/** Looks at the window as it is. */
export function seeScreen(page: Page): Promise<FirstScreen> {
  return page.evaluate<FirstScreen>(SEE);
}
