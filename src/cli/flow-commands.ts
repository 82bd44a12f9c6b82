import { type AddCommands, baseUrlOption } from "./options.ts";

/** `svc flows …`. */
export const addFlowCommands: AddCommands = (program, run) => {
  const flows = program.command("flows").description("multi-step jobs the service runs by itself");
  const load = () => import("./commands/flows.ts");
  flows
    .command("templates")
    .description("list what can be started")
    .addOption(baseUrlOption())
    .action(run(async () => (await load()).flowTemplates));
  flows
    .command("list")
    .description("list the latest flows")
    .option("--limit <number>", "how many to show", "30")
    .addOption(baseUrlOption())
    .action(run(async () => (await load()).listFlows));
  flows
    .command("start")
    .description("start a flow and watch its steps")
    .argument("<template>", "key of the template")
    .option("--input <json>", "inputs of the template as a JSON object", "{}")
    .option("--detach", "do not watch it")
    .addOption(baseUrlOption())
    .action(run(async () => (await load()).startFlow));
  flows
    .command("watch")
    .description("watch the steps of a flow until it ends or needs you")
    .argument("<id>", "id of the flow")
    .addOption(baseUrlOption())
    .action(run(async () => (await load()).watch));
  flows
    .command("approve")
    .description("see what a waiting flow is about to do, and decide")
    .argument("<id>", "id of the flow")
    .option("--step <key>", "only if this step waits")
    .addOption(baseUrlOption())
    .action(run(async () => (await load()).approve));
  flows
    .command("resume")
    .description("try a failed flow again from the step that failed")
    .argument("<id>", "id of the flow")
    .addOption(baseUrlOption())
    .action(run(async () => (await load()).resume));
  flows
    .command("cancel")
    .description("end a flow; what it did stays done")
    .argument("<id>", "id of the flow")
    .addOption(baseUrlOption())
    .action(run(async () => (await load()).cancel));
};
