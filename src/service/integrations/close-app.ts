import type { ServiceLog } from "../service-error.ts";

/** How long an app may take to close, in milliseconds: more than ours take with calls under way. */
const CLOSE_MS = 15_000;

/** Closes an app. One that fails, or has not closed in 15 seconds, is logged and holds nobody else up; never rejects. */
export async function closeApp(app: { slug: string; close?(): Promise<void> }, log: ServiceLog): Promise<void> {
  const tooLate = Promise.withResolvers<"late">();
  const timer = setTimeout(() => tooLate.resolve("late"), CLOSE_MS);
  try {
    const end = await Promise.race([app.close?.(), tooLate.promise]);
    if (end !== "late") return;
    const message = `The app "${app.slug}" has not closed in ${CLOSE_MS / 1000} seconds and is left as it is.`;
    log({ level: "warn", message });
  } catch (cause) {
    log({ level: "warn", message: `The app "${app.slug}" could not be closed.`, cause });
  } finally {
    clearTimeout(timer);
  }
}
