import { join } from "node:path";

/** Files and folders of the plugin below the host's state folder. */
export interface Places {
  /** The plugin's own folder; everything of ours is below it. */
  readonly state: string;
  /** The host's media folder: attachments arrive in its `inbound`. */
  readonly media: string;
  /** The generated action tools. */
  readonly actions: string;
  /** Folder of the generated companion plugin. */
  readonly companion: string;
}

/** The places in a host with this state folder and this media folder. Creates nothing. */
export function createPlaces(stateDir: string, mediaDir: string = join(stateDir, "media")): Places {
  const state = join(stateDir, "svc");
  return {
    state,
    media: mediaDir,
    actions: join(state, "actions.json"),
    companion: join(state, "actions-plugin"),
  };
}
