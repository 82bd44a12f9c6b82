import { once } from "node:events";
import { createServer, request, ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { watchClient } from "../../../src/service/http/request.ts";

test("a caller that left before anybody watched is gone, too", async () => {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const place = server.address();
  const asking = request({ port: typeof place === "object" ? place?.port : 0, host: "127.0.0.1" });
  asking.on("error", () => {}).end();
  const [, outgoing] = await once(server, "request");
  if (!(outgoing instanceof ServerResponse)) throw new Error("There is no response.");
  const before = watchClient({ outgoing });
  expect(before.aborted).toBe(false);
  asking.destroy();
  await once(outgoing, "close");
  expect([before.aborted, watchClient({ outgoing }).aborted]).toEqual([true, true]);
  server.close();
});
