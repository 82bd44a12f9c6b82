/** The number of the way by the plugin's own session. */
export const PLUGIN = -1;

/** What an asker is to do. */
export interface AskerJob {
  readonly url: string;
  readonly apiKey: string;
  /** File of its notes. */
  readonly notes: string;
  readonly stateDir: string;
  readonly writes: readonly { readonly line: string; readonly way: number }[];
}

/** One write as the asker knows it. */
export interface AskedWrite {
  /** Requests with a key of their own. */
  readonly tries: number;
  /** Id of the approval of the last one. */
  readonly id?: string | undefined;
  /** How it ended. */
  readonly end?: string;
}

/** The last note of each line. */
export function readNotes(text: string): Map<string, AskedWrite> {
  const whole = text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((note) => note !== "");
  return new Map(
    whole.map((note) => {
      const { line, ...known } = JSON.parse(note) as AskedWrite & { line: string };
      return [line, known];
    }),
  );
}
