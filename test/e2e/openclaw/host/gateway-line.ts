import { once } from "node:events";
import { connect, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { listen } from "./exchange.ts";
import type { HostState } from "./isolated-state.ts";
import { type Gateway, startGateway } from "./start-gateway.ts";

const DONE = "started";

/** A gateway that outlives the test files, and the port by which they kill it. */
export interface KeptGateway extends Pick<Gateway, "url" | "stop"> {
  readonly controlPort: number;
}

/** Starts the gateway of a state; whoever connects to its port has it killed as by a power cut, and started again. */
export async function keepGateway(state: HostState): Promise<KeptGateway> {
  let gateway = await startGateway(state);
  const restart = async () => {
    await gateway.kill();
    gateway = await startGateway(state);
  };
  const control = createServer((line) => {
    line.on("error", () => {});
    restart().then(
      () => line.end(DONE),
      (error: unknown) => line.end(String(error)),
    );
  });
  const controlPort = await listen(control);
  const stop = async () => {
    control.close();
    await gateway.stop();
  };
  return { url: gateway.url, controlPort, stop };
}

/** Has the gateway killed and started again. @throws with the reason when it does not start */
export async function restartGateway(controlPort: number): Promise<void> {
  const line = connect(controlPort, "127.0.0.1");
  await once(line, "connect");
  const said = await text(line);
  if (said !== DONE) throw new Error(said);
}
