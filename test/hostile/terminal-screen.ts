import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import xterm from "@xterm/headless";
import type { ApprovalDecision, ApprovalRequest } from "../../src/plugin/calls/ask/request.ts";
import { createTerminalApprover } from "../../src/plugin/runtimes/terminal/approve-in-terminal.ts";

/** A person at a terminal of a real emulator. */
export interface TerminalScreen {
  /** Rows of the window, as they look now. */
  look(): string[];
  /** Rows of everything that was ever shown. */
  scrollBack(): string[];
  /** Types a line and waits until the terminal shows what it brought. */
  type(line: string): Promise<void>;
  /** Undefined while the question is open. */
  readonly decision: Promise<ApprovalDecision>;
  close(): void;
}

/** Opens an emulator of this size, shows the request in it and waits for the question. */
export async function openScreen(
  request: ApprovalRequest,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): Promise<TerminalScreen> {
  const emulator = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns, rows });
  let last: Promise<void> = Promise.resolve();
  let written = "";
  output.on("data", (chunk) => {
    written += String(chunk);
    // A terminal puts the cursor at the begin of the next line.
    const shown = String(chunk).replaceAll(/\r?\n/g, "\r\n");
    last = new Promise((resolve) => emulator.write(shown, resolve));
  });
  const approve = createTerminalApprover({ input, output, color: false });
  const decision = approve(request, { signal: new AbortController().signal });
  decision.catch(() => undefined);
  const settle = async (from: number) => {
    for (;;) {
      const before = written.length;
      for (let turn = 0; turn < 20; turn += 1) await setImmediate();
      await last;
      if (written.length === before && before > from) return;
    }
  };
  while (!/\? $|\? \S*\[\d+G$/.test(written)) await settle(0);
  const read = (from: number, to: number) =>
    Array.from(
      { length: to - from },
      (_, row) => emulator.buffer.active.getLine(from + row)?.translateToString(true) ?? "",
    );
  return {
    look: () => read(emulator.buffer.active.baseY, emulator.buffer.active.baseY + rows),
    scrollBack: () => read(0, emulator.buffer.active.baseY + rows),
    async type(line) {
      const from = written.length;
      input.write(`${line}\r`);
      await settle(from);
    },
    decision,
    close() {
      approve.close();
      emulator.dispose();
    },
  };
}
