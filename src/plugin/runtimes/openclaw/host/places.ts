import { dirname, join } from "node:path";

/** Files and folders of the plugin below the host's state folder. */
export type Places = Readonly<ReturnType<typeof createPlaces>>;

/** The places in a host with this state folder and this media folder. Creates nothing. */
export function createPlaces(stateDir: string, media: string = join(stateDir, "media")) {
  const state = join(stateDir, "svc");
  return {
    /** The plugin's own folder; everything of ours is below it. */
    state,
    /** The host's media folder: attachments arrive in its `inbound`. */
    media,
    /** The generated action tools. */
    actions: join(state, "actions.json"),
    /** Folder of the generated companion plugin. */
    companion: join(state, "actions-plugin"),
  };
}

/**
 * Parts of the host's media folder that files may be sent from: what people sent to the agent, and what the agent had
 * the host's own tools make for it. Every stored name ends in a random id, so an agent can only name files it was told
 * of. Not among them:
 *
 * - `outbound` and `outgoing`: copies of what any agent sent to any conversation,
 * - `browser`: pictures and downloads of pages somebody is signed in to,
 * - `tool-file-transfer`: files of other machines, read under rules of their own, some under names that can be guessed,
 * - `playback-transcode`, loose files, and areas that a later host adds.
 *
 * A human opens one of those, or a workspace, by naming it in `mediaRoots`.
 */
const MEDIA_AREAS: readonly string[] = [
  "inbound",
  "remote-cache",
  "tool-image-generation",
  "tool-music-generation",
  "tool-speech-synthesis",
  "tool-video-generation",
];

/** In the state folder only these may hold a folder named in `mediaRoots`; the rest is configuration, keys and history. */
const SHAREABLE = /^(media|canvas|sandboxes|workspace(-.+)?)$/;

/** Where files may be sent from in this host: parts of its media folder, and the folders a human configured. */
export function listMediaPlaces(places: Pick<Places, "state" | "media">, configured: readonly string[]) {
  return {
    mediaRoots: [{ folder: places.media, areas: MEDIA_AREAS }, ...configured],
    privateFolders: [dirname(places.state), dirname(places.media)].map((folder) => ({
      folder,
      mayHoldRoots: (name: string) => SHAREABLE.test(name),
    })),
  };
}
