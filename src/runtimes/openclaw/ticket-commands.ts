import { createApprovalCard } from "../../approvals/card.ts";
import { toPlainText } from "../../wire/plain-text.ts";
import type { CardBook } from "./card-book.ts";
import { answer, type CommandAnswer, refuse } from "./command-answer.ts";
import { CHAT, type CommandForm } from "./command-form.ts";
import type { Ticket, TicketBook, TicketDecision } from "./tickets.ts";

/** The calls that wait for a human, one line each. */
export function listTickets(
  tickets: TicketBook,
  { form = CHAT, now = Date.now() }: { readonly form?: CommandForm; readonly now?: number } = {},
): CommandAnswer {
  const open = tickets.list().filter(({ state }) => state === "open");
  const data = open.map((ticket) => describe(ticket));
  if (open.length === 0) return answer("No call waits for approval.", data);
  const lines = open.map(({ code, request, expiresAt }) => {
    const minutes = Math.max(1, Math.ceil((expiresAt - now) / 60_000));
    return `${code}  ${request.effect.padEnd(7)}  ${toPlainText(request.title, { max: 60 })} (${minutes} min left)`;
  });
  return answer(
    [...lines, `See one whole: ${form} show CODE. Decide: ${form} approve CODE, ${form} decline CODE.`].join("\n"),
    data,
  );
}

/** Everything about one call: a waiting one by its code, or one whose card was shown cut by the code on the card. */
export function showTicket(
  { tickets, cards }: { readonly tickets: TicketBook; readonly cards: CardBook },
  code: string | undefined,
  form: CommandForm = CHAT,
): CommandAnswer {
  if (code === undefined) return unknownCode(code, form);
  const ticket = tickets.find(code);
  const request = ticket?.request ?? cards.find(code);
  if (request === undefined) return unknownCode(code, form);
  const expiresAt = ticket === undefined ? request.expiresAt : new Date(ticket.expiresAt).toISOString();
  const lines = createApprovalCard({ ...request, expiresAt }, { maxArguments: Number.POSITIVE_INFINITY });
  const next =
    ticket && `${ticket.state === "open" ? "Decide" : `It is ${ticket.state}`}: ${describeWays(ticket, form)}`;
  return answer([...lines, ...(next === undefined ? [] : [next])].join("\n"), {
    ...(ticket === undefined ? {} : describe(ticket)),
    request,
  });
}

function describeWays({ state, code }: Ticket, form: CommandForm): string {
  if (state !== "open") return "the same call is let through or refused once.";
  return `${form} approve ${code}, ${form} decline ${code}.`;
}

/** A human's decision on a waiting call. */
export function decideTicket(
  tickets: TicketBook,
  code: string | undefined,
  decision: TicketDecision,
  form: CommandForm = CHAT,
): CommandAnswer {
  if (code === undefined) return unknownCode(code, form);
  const verdict = tickets.decide(code, decision);
  if (!verdict.ok) return refuse(verdict.message);
  const { ticket } = verdict;
  return answer(describeDecision(ticket, decision), describe(ticket));
}

function describeDecision({ request }: Ticket, decision: TicketDecision): string {
  const title = toPlainText(request.title, { max: 80 });
  if (decision === "decline") return `Declined: ${title}. Nothing is sent.`;
  const next = "Tell the agent to go on: the same call is let through";
  if (decision === "approve") return `Approved: ${title}. ${next} once, a changed one is asked about again.`;
  const account = toPlainText(request.account ?? request.connection ?? "this account", { max: 80 });
  return `Approved for good: ${title}. ${next}, and from then on every call of ${request.tool} on ${account}.`;
}

function describe({ code, request, state, expiresAt }: Ticket) {
  const { tool, integration, effect, title, account, connection } = request;
  return {
    code,
    state,
    tool,
    integration,
    effect,
    title,
    account: account ?? null,
    connection: connection ?? null,
    expiresAt: new Date(expiresAt).toISOString(),
  };
}

function unknownCode(code: string | undefined, form: CommandForm): CommandAnswer {
  if (code === undefined) return refuse(`Which one? Give its code: ${form} pending lists them.`);
  return refuse(
    `No call waits under this code. Codes expire, and end when the gateway restarts: ${form} pending lists them.`,
  );
}
