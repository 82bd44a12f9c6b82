import { type CardBook, createCardBook } from "./card-book.ts";
import { createDecisionBook, type DecisionBook } from "./decision-book.ts";
import { createTicketBook, type TicketBook } from "./tickets.ts";

/** What humans said and were shown; it outlives a reload of the plugin. */
export interface Books {
  /** What humans said to cards of calls that are about to run. */
  readonly decisions: DecisionBook;
  /** Calls that wait for a command of a human. */
  readonly tickets: TicketBook;
  /** Cards the host shows cut, in full. */
  readonly cards: CardBook;
}

/** Opens empty books. */
export function createBooks(): Books {
  return { decisions: createDecisionBook(), tickets: createTicketBook(), cards: createCardBook() };
}
