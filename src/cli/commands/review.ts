import { SvcError } from "../../errors.ts";
import { openSourceDesk, type SourceDesk } from "../../service/added/open-source-desk.ts";
import { isStopped, type StoredSource } from "../../service/added/source.ts";
import { compareContents } from "../../service/added/source-content.ts";
import { toPlainText } from "../../wire/plain-text.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { askYesNo, describeChanges, findPlace, type SourceFlags, summariseChanges } from "./add-source.ts";

/** `svc review`: the changes an added app wants to make to its actions; in use only after the owner's yes. */
export async function review(context: CliContext, slug: string, flags: SourceFlags): Promise<number> {
  const { terminal } = context;
  const desk = await openSourceDesk(findPlace(context, flags));
  try {
    const source = await findAdded(desk, slug);
    if (isStopped(source)) {
      throw new SvcError("invalid_config", `${source.name} stopped working.`, { field: "app", hint: source.stopped });
    }
    const { name, content, proposal } = source;
    const shown = toPlainText(name);
    if (proposal === undefined) {
      terminal.answer({ slug, proposal: null }, () => `${shown} offers what you agreed to.`);
      return EXIT.ok;
    }
    terminal.say(`${shown} offers something else since ${proposal.foundAt}.`);
    terminal.say(summariseChanges(content, proposal.content));
    for (const line of describeChanges(content, proposal.content)) terminal.say(line);
    if (flags.yes !== true && !(await askYesNo(context, "Use the actions as they are now?"))) {
      terminal.say("Nothing was changed: the actions you agreed to stay in use, the changed ones are not run.");
      return EXIT.notApproved;
    }
    if (!(await desk.accept(slug, proposal.digest))) {
      throw new SvcError("invalid_config", "The app changed again meanwhile.", {
        field: "app",
        hint: `Run "svc review ${slug}" again.`,
      });
    }
    const changes = compareContents(content, proposal.content);
    terminal.answer({ slug, accepted: proposal.digest, changes }, () => "The actions are in use within seconds.");
    return EXIT.ok;
  } finally {
    await desk.close();
  }
}

/** `svc remove`: takes an added app and its connections away. */
export async function remove(context: CliContext, slug: string, flags: SourceFlags): Promise<number> {
  const { terminal } = context;
  const desk = await openSourceDesk(findPlace(context, flags));
  try {
    const source = await findAdded(desk, slug);
    const shown = toPlainText(source.name);
    const actions = isStopped(source) ? "" : `, its ${source.content.actions.length} actions`;
    const question = `Remove ${shown}${actions} and its connections?`;
    if (flags.yes !== true && !(await askYesNo(context, question))) {
      terminal.say("Nothing was removed.");
      return EXIT.notApproved;
    }
    await desk.remove(slug);
    terminal.answer({ removed: slug }, () => `${shown} is removed; a running service drops it within seconds.`);
    return EXIT.ok;
  } finally {
    await desk.close();
  }
}

/** The added app of this short name, whether it can be used or not. Throws SvcError `invalid_config`, field `app`, naming those there are. */
async function findAdded(desk: SourceDesk, slug: string): Promise<StoredSource> {
  const source = await desk.find(slug);
  if (source !== undefined) return source;
  const names = (await desk.list()).map((item) => toPlainText(item.slug));
  throw new SvcError("invalid_config", `No app "${slug}" was added to this service.`, {
    field: "app",
    hint: names.length === 0 ? 'Add one with "svc add".' : `Added apps: ${names.join(", ")}.`,
  });
}
