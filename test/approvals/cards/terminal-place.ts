import { openScreen } from "../../hostile/terminal-screen.ts";
import { type CardPlace, readRows } from "./card-place.ts";

/** Rows above the prompt. */
const isPrompt = (row: string) => /^(?:\[a\]pprove|Page \d+ of)/.test(row);

/** `svc call` and whatever else asks in a terminal: what stands on a screen of a real emulator, and page by page. */
export const TERMINAL_CARD: CardPlace = {
  name: "a terminal of 80 by 24",
  async show(request) {
    const screen = await openScreen(request, { columns: 80, rows: 24 });
    const first = screen.look().filter((row) => !isPrompt(row));
    const pages: string[] = [];
    await screen.type("v");
    for (;;) {
      const rows = screen.look();
      const start = rows.findLastIndex((row, index) => index < rows.length - 2 && /\? (?:v)?$/.test(row));
      pages.push(...rows.slice(start + 1).filter((row) => !isPrompt(row)));
      if (!/^Page \d+ of \d+/m.test(rows.slice(-2).join("\n"))) break;
      await screen.type("");
    }
    screen.close();
    return { rows: first, read: () => readRows(first), readRest: () => readRows(pages) };
  },
};
