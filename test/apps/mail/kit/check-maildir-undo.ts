import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createMailIntegration } from "../../../../src/apps/mail/mail-integration.ts";
import { createKeeper, createRunner } from "../../run-action.ts";
import type { UndoSubject } from "./check-undo.ts";
import { createMaildirHand } from "./maildir-hand.ts";

const integration = createMailIntegration();

/** A mailbox in a new folder below `parent`. */
export async function makeMaildirSubject(
  parent: string,
): Promise<UndoSubject & { readonly other: ReturnType<typeof createMaildirHand>; readonly maildir: string }> {
  const maildir = join(parent, "mail");
  for (const name of ["cur", "new", "tmp"]) await mkdir(join(maildir, name), { recursive: true });
  const settings = { maildir, address: "me@example.org", sendPerMinute: 100_000, sendPerDay: 100_000 };
  return {
    maildir,
    other: createMaildirHand(maildir),
    run: createRunner(integration, { settings }),
    keeper: createKeeper(integration, { settings }),
  };
}
