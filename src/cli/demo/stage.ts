import type { Credentials } from "../../pairing/credentials.ts";
import type { CliContext } from "../context.ts";
import type { Places } from "../places.ts";

/** Flags of `svc demo`. */
export interface DemoFlags {
  readonly data?: string;
  readonly model?: string;
  readonly unattended?: boolean;
}

/** What the agent part of the demo works with. */
export interface DemoStage {
  readonly context: CliContext;
  readonly flags: DemoFlags;
  readonly places: Places;
  readonly credentials: Credentials;
  /** The sample attachment in the media folder. */
  readonly attachment: string;
}

/** Prints a numbered heading. */
export function heading({ terminal }: CliContext, step: number, text: string): void {
  terminal.say(`\n${terminal.style("bold", `${step}. ${text}`)}`);
}
