import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Integration } from "../integrations/integration.ts";
import type { Connection, Connections } from "./connections.ts";

/** What a new data folder is connected to, without any network: plain folders below it. */
const FIRST_APPS: readonly { slug: string; label: string; settings: (folder: string) => Record<string, unknown> }[] = [
  { slug: "drive", label: "Local drive", settings: (folder) => ({ folder }) },
  {
    slug: "mail",
    label: "Local mailbox",
    settings: (folder) => ({ maildir: folder, address: "me@localhost" }),
  },
  { slug: "notes", label: "Local notes", settings: (folder) => ({ folder }) },
];

/** True for a connection that {@link connectFirstApps} made, with the settings it had then. */
export function isFirstApp({ integration, settings }: Connection, dataDir: string): boolean {
  const first = FIRST_APPS.find(({ slug }) => slug === integration);
  return first !== undefined && isDeepStrictEqual(settings, first.settings(join(dataDir, integration)));
}

/** Connects the apps that work on local folders, each in its own folder (0700) below `dataDir`. */
export async function connectFirstApps(
  connections: Connections,
  integrations: readonly Integration[],
  dataDir: string,
): Promise<void> {
  for (const { slug, label, settings } of FIRST_APPS) {
    if (!integrations.some((integration) => integration.slug === slug)) continue;
    const folder = join(dataDir, slug);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await connections.add({ integration: slug, label, settings: settings(folder), isDefault: true });
  }
}
