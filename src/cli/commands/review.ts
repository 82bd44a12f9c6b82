import { SvcError } from "../../errors.ts";
import type { SourceAdmin } from "../../service/added/open-source-admin.ts";
import { isStopped, type StoredSource } from "../../service/added/source.ts";
import { compareContents } from "../../service/added/source-content.ts";
import { toPlainText } from "../../wire/plain-text.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { askYesNo, describeChanges, type SourceFlags, summariseChanges, withApps } from "./add-source.ts";

/** `svc review`: the changes an added app wants for its actions; they apply only after the owner agrees. */
export async function review(context: CliContext, slug: string, flags: SourceFlags): Promise<number> {
  const { terminal } = context;
  return withApps(context, flags, async (apps) => {
    const source = await findAdded(apps, slug);
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
    if (!(await askYesNo(context, flags, "Use the actions as they are now?"))) {
      terminal.say("Nothing was changed: the actions you agreed to stay in use, the changed ones are not run.");
      return EXIT.notApproved;
    }
    if (!(await apps.accept(slug, proposal.digest))) {
      throw new SvcError("invalid_config", "The app changed again meanwhile.", {
        field: "app",
        hint: `Run "svc review ${slug}" again.`,
      });
    }
    const changes = compareContents(content, proposal.content);
    terminal.answer({ slug, accepted: proposal.digest, changes }, () => "The actions are in use within seconds.");
    return EXIT.ok;
  });
}

/** `svc remove`: removes an added app and its connections. */
export async function remove(context: CliContext, slug: string, flags: SourceFlags): Promise<number> {
  const { terminal } = context;
  return withApps(context, flags, async (apps) => {
    const source = await findAdded(apps, slug);
    const shown = toPlainText(source.name);
    const actions = isStopped(source) ? "" : `, its ${source.content.actions.length} actions`;
    if (!(await askYesNo(context, flags, `Remove ${shown}${actions} and its connections?`))) {
      terminal.say("Nothing was removed.");
      return EXIT.notApproved;
    }
    await apps.remove(slug);
    terminal.answer({ removed: slug }, () => `${shown} is removed; a running service drops it within seconds.`);
    return EXIT.ok;
  });
}

/**
 * Finds the added app with this slug, usable or not. Throws SvcError `invalid_config`, field `app`, listing the added
 * apps.
 */
async function findAdded(apps: SourceAdmin, slug: string): Promise<StoredSource> {
  const source = await apps.find(slug);
  if (source !== undefined) return source;
  const names = (await apps.list()).map((item) => toPlainText(item.slug));
  throw new SvcError("invalid_config", `No app "${slug}" was added to this service.`, {
    field: "app",
    hint: names.length === 0 ? 'Add one with "svc add".' : `Added apps: ${names.join(", ")}.`,
  });
}
