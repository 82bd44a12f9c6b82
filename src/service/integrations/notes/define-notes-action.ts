import type { z } from "zod";
import { type ActionDefinition, defineAction } from "../define-action.ts";
import type { Action } from "../integration.ts";
import type { Notebook, OpenNotebook } from "./notebook.ts";

/** An action on the notebook of the connection it is called with. */
interface NotesActionDefinition<Arguments extends z.ZodObject> extends Omit<ActionDefinition<Arguments>, "run"> {
  run(args: z.output<Arguments>, notebook: Notebook): Promise<unknown>;
}

/** An action that still has to be told how notebooks are opened. */
export type NotesAction = (open: OpenNotebook) => Action;

/** Defines a {@link NotesAction}. */
export function defineNotesAction<Arguments extends z.ZodObject>(
  definition: NotesActionDefinition<Arguments>,
): NotesAction {
  const { run, ...facts } = definition;
  return (open) => defineAction<Arguments>({ ...facts, run: (args, context) => run(args, open(context, definition)) });
}
