import type { SourceContent } from "./source-content.ts";

/** The first setting of an added app that has to be given and is not; undefined when its connection is complete. */
export function findMissingSetting(
  { settingsForm }: Pick<SourceContent, "settingsForm">,
  settings: Readonly<Record<string, unknown>>,
): SourceContent["settingsForm"][number] | undefined {
  return settingsForm.find(
    ({ name, optional }) => optional !== true && (typeof settings[name] !== "string" || settings[name] === ""),
  );
}
