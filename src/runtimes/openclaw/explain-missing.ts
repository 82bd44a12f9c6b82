import type { Refusal } from "./decision-book.ts";

/** What the model is told about an approval that did not come: nothing ran, and how a further try helps or does not. */
export interface MissingApproval {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly retryable: false;
}

const TEXTS: Readonly<Record<Refusal, Omit<MissingApproval, "retryable">>> = {
  denied: {
    code: "declined",
    message: "The user declined this call. Nothing was run.",
    hint: "Do not make this call again unless the user asks for it in a later message.",
  },
  timeout: {
    code: "approval_expired",
    message: "Nobody answered the request for approval in time. Nothing was run.",
    hint: "Do not make this call again now. Tell the user that it was not approved in time, and go on only when they say so.",
  },
  no_route: {
    code: "approval_required",
    message: "This call needs the user's approval, and nobody could be asked here. Nothing was run.",
    hint: 'Do not make this call again now. Tell the user that it waits for their approval: they see and release it with "/svc pending" in a chat with you, or with "openclaw svc pending" in a terminal. When they say that it is approved, make exactly the same call once. You cannot approve it.',
  },
};

/** For the outcome of a call that ran into it. */
export function explainMissing(why: Refusal): MissingApproval {
  return { ...TEXTS[why], retryable: false };
}

/** One text, for a call the host is told to block. */
export function describeMissing(why: Refusal): string {
  const { message, hint } = TEXTS[why];
  return `${message} ${hint}`;
}
