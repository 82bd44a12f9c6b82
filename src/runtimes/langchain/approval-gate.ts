import type { Approver } from "../../calls/ask/request.ts";
import type { ConnectionChooser } from "../../calls/pipeline.ts";
import { createApprovalQuestion, isApprovalDecision } from "./approval-question.ts";
import { createConnectionQuestion, isAccountChoice } from "./connection-question.ts";
import type { Question } from "./question.ts";
import type { DeskSeat } from "./task-desk.ts";

/** A call's way to a human. */
export interface HumanChannel {
  readonly approve: Approver;
  readonly chooseConnection: ConnectionChooser;
}

/** What a channel needs to know about its call. */
export interface ChannelSubject {
  readonly callId: string;
  readonly now: () => number;
  /** Milliseconds a question stays open. */
  readonly ttlMs: number;
}

/** Puts every question to the graph at once: the run stops there and is made again with the answer. */
export function createInterruptChannel(seat: DeskSeat, subject: ChannelSubject): HumanChannel {
  return createChannel(subject, async (question) => (await seat.ask([question])).get(question.id));
}

/** Answers that are known already, by question id, and the first question that has none. */
export interface AnswerSheet {
  readonly answers: Map<string, unknown>;
  open?: Question | undefined;
  /** Set by the first run of the call, so that every further run is the same call. */
  callId?: string;
}

/** Answers from a sheet and notes what is missing there, so that whoever holds the sheet can ask. */
export function createSheetChannel(sheet: AnswerSheet, subject: ChannelSubject): HumanChannel {
  return createChannel(subject, async (question) => {
    const known = sheet.answers.get(question.id);
    if (known === undefined) sheet.open = question;
    return known;
  });
}

function createChannel(subject: ChannelSubject, ask: (question: Question) => Promise<unknown>): HumanChannel {
  return {
    async approve(request) {
      const decision = await ask(createApprovalQuestion(request));
      if (!isApprovalDecision(decision)) throw new Error("Nobody has answered yet.");
      return decision;
    },
    async chooseConnection(question) {
      const expiresAt = new Date(subject.now() + subject.ttlMs).toISOString();
      const choice = await ask(createConnectionQuestion(subject.callId, question, expiresAt));
      return isAccountChoice(choice) && "id" in choice ? choice : undefined;
    },
  };
}
