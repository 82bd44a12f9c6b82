import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createCalendarIntegration } from "../../../../../src/service/integrations/calendar/calendar-integration.ts";
import { useTempFolder } from "../../../files/temp-folder.ts";
import { createRunner } from "../../run-action.ts";

/** A fresh calendar folder for each test of the file, and the actions on it; those of nobody without an address. */
export function useCalendarFolder() {
  const folder = useTempFolder();
  const integration = createCalendarIntegration();
  const ofBerlin = (address: string) => ({ folder: folder(), timeZone: "Europe/Berlin", address });
  return {
    folder,
    runAs: (address?: string): ReturnType<typeof createRunner> =>
      createRunner(integration, { settings: address === undefined ? { folder: folder() } : ofBerlin(address) }),
    async put(path: string, text: string | Uint8Array): Promise<void> {
      await mkdir(dirname(join(folder(), path)), { recursive: true });
      await writeFile(join(folder(), path), text);
    },
  };
}
