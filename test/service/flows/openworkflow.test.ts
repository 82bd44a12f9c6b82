import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { chooseEngine } from "../../../src/service/flows/engines/choose-engine.ts";
import { useTempFolder } from "../files/temp-folder.ts";
import { describeFlows } from "./flow-suite.ts";
import { runSegments } from "./run-segments.ts";

describeFlows("OpenWorkflow", (dataDir) => chooseEngine({ dataDir }));

describe("segments that ended", () => {
  const folder = useTempFolder();

  test("are forgotten with their steps, and those that run are not", async () => {
    const hold = Promise.withResolvers<void>();
    const { ended, engine } = await runSegments((o) => chooseEngine({ dataDir: folder() })(o), hold.promise);
    const database = new DatabaseSync(`${folder()}/flows.db`, { readOnly: true });
    const list = (table: string) => database.prepare(`SELECT status FROM ${table}`).all();
    await ended;
    await expect.poll(() => list("workflow_runs").filter(({ status }) => status === "completed")).toHaveLength(150);
    await engine.forget(new Date(Date.now() - 60_000));
    expect(list("workflow_runs")).toHaveLength(151);
    await engine.forget(new Date(Date.now() + 60_000));
    expect(list("workflow_runs")).toHaveLength(1);
    expect(list("step_attempts")).toHaveLength(1);
    hold.resolve();
    await engine.close();
    database.close();
  });
});
