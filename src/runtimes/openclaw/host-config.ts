/** OpenClaw's configuration, as parsed from `openclaw.json`. Read it field by field; nothing in it is promised. */
export type HostConfig = Readonly<Record<string, unknown>>;

/** The host's log. One line per call. */
export interface HostLogger {
  debug?(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}
