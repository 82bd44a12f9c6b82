import { setInterval as every } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type HostileWorld, openWorld } from "./hostile-world.ts";
import { openSignIns, refusal } from "./open-sign-ins.ts";

/** Providers that take longer than anybody waits. */

let world: HostileWorld;
let signIns: Awaited<ReturnType<typeof openSignIns>>;

beforeEach(async () => {
  world = await openWorld();
  signIns = await openSignIns();
  world.addServer("app.example", "slow.example");
  world.addProvider("slow.example");
});
afterEach(async () => {
  expect(world.listStrays(["app.example", "slow.example"])).toEqual([]);
  await signIns.close();
  await world.close();
});

const NO_ANSWER = "503 provider_unavailable: The sign-in provider of App gave no answer: slow.example";
type Route = Parameters<HostileWorld["on"]>[1];

test.each<[string, Route]>([
  ["never answers", () => {}],
  [
    "sends a space each second",
    async (response) => {
      for await (const _ of every(1_000)) if (response.destroyed || !response.write(" ")) break;
    },
  ],
])("a provider whose metadata are asked for and which %s is given up", async (_what, route) => {
  world.on("slow.example/.well-known/oauth-authorization-server", route);
  expect(await refusal(signIns.begin("app.example"))).toBe(NO_ANSWER);
});

test("a provider that never answers a renewal: the calls that wait are told so, and the refresh token is not sent again", async () => {
  world.on("slow.example/token", (response) => response.end(JSON.stringify(world.tokens("slow.example"))));
  const state = (await signIns.findPage("app.example")).searchParams.get("state") ?? "";
  const end = await signIns.finish({ code: world.give("code", "slow.example"), state, iss: "https://slow.example" });
  const id = "signInId" in end ? end.signInId : expect.unreachable();
  world.on("slow.example/token", () => {});
  signIns.clock.now += 3_600_000;
  const calls = Array.from({ length: 100 }, () => refusal(signIns.provide("app.example", id)));
  expect(new Set(await Promise.all(calls))).toEqual(new Set([NO_ANSWER]));
  expect(await refusal(signIns.provide("app.example", id))).toMatch(/^401 needs_reauth: App: A renewal was cut off/);
  expect(world.asked("slow.example", "/token")).toHaveLength(2);
});
