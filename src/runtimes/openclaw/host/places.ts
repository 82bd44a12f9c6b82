import { dirname, join } from "node:path";
import type { SessionSettings } from "../../../calls/session.ts";

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

/** Settings of a session that say where its files may come from. */
interface MediaPlaces {
  readonly mediaRoots: NonNullable<SessionSettings["mediaRoots"]>;
  readonly privateFolders: NonNullable<SessionSettings["privateFolders"]>;
}

/** Where files may be sent from in this host: parts of its media folder, and the folders a human configured. */
export function listMediaPlaces(places: Pick<Places, "state" | "media">, configured: readonly string[]): MediaPlaces {
  return {
    mediaRoots: [{ folder: places.media, areas: MEDIA_AREAS }, ...configured],
    privateFolders: [dirname(places.state), dirname(places.media)].map((folder) => ({
      folder,
      mayHoldRoots: (name) => SHAREABLE.test(name),
    })),
  };
}
