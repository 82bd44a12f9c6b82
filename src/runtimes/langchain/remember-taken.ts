import type { CallJournal } from "../../calls/journal/journal.ts";
import type { DeskSeat } from "./task-desk.ts";

/** Whose answers are counted, and where that is kept. */
export interface TakenSubject {
  readonly callId: string;
  readonly journal: CallJournal;
  readonly now: () => number;
}

/**
 * The same seat, which keeps in the journal how many answers the call took: LangGraph hands stored answers out by
 * counting, so a call that is made again and asks nothing has to take as many, or the host's own `interrupt` after it
 * would get the answer that was meant for the call.
 */
export function rememberTaken(seat: DeskSeat, { callId, journal, now }: TakenSubject): DeskSeat {
  const key = { callId, fingerprint: seat.nth === 1 ? "answers taken" : `answers taken ${seat.nth}` };
  return {
    ...seat,
    async ask(questions) {
      const answers = await seat.ask(questions);
      await journal.record({ ...key, state: "done", at: now(), tool: "", outcome: await seat.countTaken() });
      return answers;
    },
    leave: () =>
      seat.leave(async () => {
        const record = await journal.find(key);
        return typeof record?.outcome === "number" ? record.outcome : 0;
      }),
  };
}
