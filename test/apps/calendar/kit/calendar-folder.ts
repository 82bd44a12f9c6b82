import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createCalendarIntegration } from "../../../../src/apps/calendar/calendar-integration.ts";
import { useTempFolder } from "../../../service/files/temp-folder.ts";
import { createPreviewer, createRunner } from "../../run-action.ts";

/** A fresh calendar folder for each test of the file, and the actions on it; those of nobody without an address. */
export function useCalendarFolder() {
  const folder = useTempFolder();
  const integration = createCalendarIntegration();
  const ofBerlin = (address: string) => ({ folder: folder(), timeZone: "Europe/Berlin", address });
  const settingsOf = (address?: string) => (address === undefined ? { folder: folder() } : ofBerlin(address));
  return {
    folder,
    runAs: (address?: string, o: { readonly expectedState?: string } = {}): ReturnType<typeof createRunner> =>
      createRunner(integration, { settings: settingsOf(address), ...o }),
    previewAs: (address?: string): ReturnType<typeof createPreviewer> =>
      createPreviewer(integration, { settings: settingsOf(address) }),
    async put(path: string, text: string | Uint8Array): Promise<void> {
      await mkdir(dirname(join(folder(), path)), { recursive: true });
      await writeFile(join(folder(), path), text);
    },
  };
}
