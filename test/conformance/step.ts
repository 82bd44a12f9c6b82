/** What one step of the run showed. */
export interface StepResult {
  readonly name: string;
  readonly ok: boolean;
  /** One line for the table. */
  readonly detail: string;
  /** What to read when it failed. */
  readonly output?: string;
}

/** Runs a step; what it throws is a failure. */
export async function runStep(name: string, work: () => Promise<string>): Promise<StepResult> {
  try {
    return { name, ok: true, detail: await work() };
  } catch (error) {
    const [first = "failed"] = String(error instanceof Error ? error.message : error).split("\n");
    return { name, ok: false, detail: first.slice(0, 100), output: error instanceof Error ? (error.stack ?? "") : "" };
  }
}
