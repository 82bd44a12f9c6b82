import type { FlowEngine, OpenEngine } from "../../../src/service/flows/engines/flow-engine.ts";

/** Opens an engine that runs 150 segments of one step to their end, and one that is held up. */
export async function runSegments(
  openEngine: OpenEngine,
  hold: Promise<void>,
): Promise<{ engine: FlowEngine; ended: Promise<void> }> {
  const ended = Promise.withResolvers<void>();
  let left = 150;
  const engine = await openEngine({
    runner: "node_a",
    onFault() {},
    async run({ flowId }, own) {
      await own.step("only", async () => {
        if (flowId === "held") await hold;
        return "completed";
      });
      if (flowId !== "held" && --left === 0) ended.resolve();
    },
  });
  const start = (flowId: string) => engine.start(`${flowId}:1`, { flowId, segment: 1, from: 0 });
  await start("held");
  for (let index = 0; index < 150; index++) await start(`flow_${index}`);
  return { engine, ended: ended.promise };
}
