import { afterEach, beforeEach, expect, test } from "vitest";
import { answerJson, type HostileWorld, openWorld } from "./hostile-world.ts";
import { openSignIns } from "./open-sign-ins.ts";

/** A sign-in by a code that the owner types on another device (RFC 8628). */

const LOGIN = "good.example";
let world: HostileWorld;
let signIns: Awaited<ReturnType<typeof openSignIns>>;
let state: string;

beforeEach(async () => {
  world = await openWorld();
  signIns = await openSignIns();
  world.addProvider(LOGIN, { device_authorization_endpoint: `https://${LOGIN}/device` });
  const verification = { verification_uri: `https://${LOGIN}/type`, user_code: "AB-CD", expires_in: 900, interval: 5 };
  world.on(`${LOGIN}/device`, { device_code: world.give("code", LOGIN), ...verification });
  const asked = await signIns.begin(LOGIN, {
    provider: { issuer: `https://${LOGIN}` },
    flow: "device",
    scopes: ["read"],
  });
  if (asked?.kind !== "client") return expect.unreachable();
  const step = await signIns.nameClient(asked.state, { clientId: "own", clientSecret: world.give("secret", LOGIN) });
  if (step.kind !== "device") return expect.unreachable();
  expect(step).toMatchObject({ userCode: "AB-CD", intervalSeconds: 5 });
  expect(world.asked(LOGIN, "/device")[0]?.form.scope).toBe("read");
  state = step.state;
});
afterEach(async () => {
  expect(world.listStrays([LOGIN])).toEqual([]);
  expect(world.listLeaks()).toEqual([]);
  await signIns.close();
  await world.close();
});

const refuse = (error: string, status = 400) =>
  world.on(`${LOGIN}/token`, (response) => answerJson(response, { error }, status));
const asked = () => world.asked(LOGIN, "/token").length;
/** Polls, `seconds` later. */
const poll = async (seconds = 0) => {
  signIns.clock.now += seconds * 1_000;
  return signIns.poll(state);
};

test("it is asked as often as the provider said, and less often when that says so or is down", async () => {
  refuse("authorization_pending");
  expect([await poll(), asked()]).toEqual([undefined, 1]);
  expect([await poll(4), asked()]).toEqual([undefined, 1]);
  refuse("slow_down");
  expect([await poll(1), asked()]).toEqual([undefined, 2]);
  expect([await poll(9), asked()]).toEqual([undefined, 2]);
  refuse("closed", 503);
  expect([await poll(1), asked()]).toEqual([undefined, 3]);
  world.on(`${LOGIN}/token`, world.tokens(LOGIN));
  expect([await poll(14), asked()]).toEqual([undefined, 3]);
  expect(await poll(1)).toMatchObject({ signInId: expect.any(String) });
  await expect(poll()).rejects.toMatchObject({ status: 409 });
});

test.each(["access_denied", "expired_token", "invalid_grant", "slow_down_please"])("%s ends it", async (error) => {
  refuse(error);
  expect(await poll()).toMatchObject({ problem: `App: The sign-in has ended or was withdrawn: (${error})` });
  await expect(poll(60)).rejects.toMatchObject({ status: 409 });
});

test("its state is not that of a sign-in on a page", async () => {
  await expect(signIns.finish({ state, code: world.give("code", LOGIN) })).rejects.toMatchObject({ status: 409 });
  expect(asked()).toBe(0);
});
