import type { z } from "zod";
import { type ActionDefinition, defineAction } from "../define-action.ts";
import type { Action, ActionContext } from "../integration.ts";
import type { MailBox, OpenMailBox } from "./mail-box.ts";

/** An action on the mailbox of the connection it is called with. */
interface MailActionDefinition<Arguments extends z.ZodObject> extends Omit<ActionDefinition<Arguments>, "run"> {
  run(args: z.output<Arguments>, box: MailBox, context: ActionContext): Promise<unknown>;
}

/** An action that still has to be told how mailboxes are opened. */
export type MailAction = (open: OpenMailBox) => Action;

/** Defines a {@link MailAction}. */
export function defineMailAction<Arguments extends z.ZodObject>(
  definition: MailActionDefinition<Arguments>,
): MailAction {
  const { run, ...facts } = definition;
  return (open) =>
    defineAction<Arguments>({ ...facts, run: (args, context) => run(args, open(context, definition), context) });
}
