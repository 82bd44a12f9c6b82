const STAGED_FOLDER = /^openclaw-staged-[0-9a-f-]{36,64}$/;
const STAGED_PREFIX = "input-";
const RECEIVED_ID = /^(?!\.+---)(.+)---[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(\.[^.]*)?$/i;

/**
 * For a path that names the copy a runtime made of an attachment in an agent's workspace: the attachment's own path
 * below the inbound folder of the media root, as components. The copy is the agent's to change; what a human sent is
 * the file it was made from.
 *
 * Known forms: `media/inbound/<path>` relative to the workspace, and
 * `<anything>/media/inbound/openclaw-staged-<id>/input-<name>`. Undefined for every other path.
 */
export function receivedOriginal(components: readonly string[], isRelative: boolean): readonly string[] | undefined {
  const staged = stagedName(components);
  if (staged !== undefined) return [staged];
  const [media, inbound, ...rest] = components;
  return isRelative && media === "media" && inbound === "inbound" && rest.length > 0 ? rest : undefined;
}

function stagedName(components: readonly string[]): string | undefined {
  const [media, inbound, folder, name] = components.slice(-4);
  if (media !== "media" || inbound !== "inbound" || folder === undefined || !STAGED_FOLDER.test(folder))
    return undefined;
  return name?.startsWith(STAGED_PREFIX) === true ? name.slice(STAGED_PREFIX.length) || undefined : undefined;
}

/** `invoice---<uuid>.pdf`, as a runtime stores attachments, without its id: `invoice.pdf`. Never dots alone. */
export function dropReceivedId(name: string): string {
  const [, base, ending = ""] = RECEIVED_ID.exec(name) ?? [];
  return base === undefined ? name : `${base}${ending}`;
}
