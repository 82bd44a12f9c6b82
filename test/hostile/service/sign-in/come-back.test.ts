import { afterEach, beforeEach, expect, test } from "vitest";
import { answerJson, type HostileWorld, openWorld } from "./hostile-world.ts";
import { openSignIns, refusal } from "./open-sign-ins.ts";

/** What can come back to the owner's browser from a provider, or from somebody who pretends to be one. */

let world: HostileWorld;
let signIns: Awaited<ReturnType<typeof openSignIns>>;

beforeEach(async () => {
  world = await openWorld();
  signIns = await openSignIns();
  for (const name of ["good", "evil"]) {
    world.addServer(`${name}-app.example`, `${name}.example`);
    world.addProvider(`${name}.example`);
  }
});
afterEach(async () => {
  const own = ["good-app.example", "good.example", "evil-app.example", "evil.example"];
  expect(world.listStrays(own)).toEqual([]);
  expect(world.listLeaks()).toEqual([]);
  await signIns.close();
  await world.close();
});

const stateOf = (page: URL) => page.searchParams.get("state") ?? "";
const GOOD = "https://good.example";
const asked = (host: string) => world.asked(host, "/token").length;

test("the honest answer is taken once, and asks for the very server that it is for", async () => {
  const page = await signIns.findPage("good-app.example");
  expect(page.searchParams.get("resource")).toBe("https://good-app.example/mcp");
  const answer = { code: world.give("code", "good.example"), state: stateOf(page), iss: GOOD };
  expect(await signIns.finish(answer)).toMatchObject({ signInId: expect.any(String) });
  expect(world.asked("good.example", "/token")[0]?.form.resource).toBe("https://good-app.example/mcp");
  // The same code again.
  expect(await refusal(signIns.finish(answer))).toMatch(/^409 conflict: This sign-in was not begun in this browser/);
  expect(asked("good.example")).toBe(1);
});

test("a state that is another one, or missing, is that of no sign-in", async () => {
  const page = await signIns.findPage("good-app.example");
  const code = world.give("code", "good.example");
  for (const answer of [
    { code, iss: GOOD },
    { code, iss: GOOD, state: "x".repeat(43) },
  ]) {
    expect(await refusal(signIns.finish(answer))).toMatch(/^409 conflict: /);
  }
  // It is still there for the answer that belongs to it.
  expect(await signIns.finish({ code, iss: GOOD, state: stateOf(page) })).toHaveProperty("signInId");
  expect(asked("good.example")).toBe(1);
});

test.each<[string, Record<string, string>, string]>([
  [
    "names another provider",
    { iss: "https://evil.example" },
    "App: The answer came from another provider, https://evil.example. Nothing was sent to either.",
  ],
  [
    "names itself with control characters",
    { iss: "https://good.example\u001b[31m\u202e" },
    "App: The answer came from another provider, https://good.example [31m. Nothing was sent to either.",
  ],
  ["names nobody", {}, "App: The answer does not say that it came from good.example, as its answers do."],
  ["holds a packed answer", { iss: GOOD, response: "e30.e30.e30" }, expect.stringContaining("cannot be used")],
  ["holds tokens", { iss: GOOD, id_token: "e30.e30." }, expect.stringContaining("cannot be used")],
  ["holds no code", { iss: GOOD, code: "" }, "App: The answer does not hold one code."],
])("an answer that %s is refused, and its code goes nowhere", async (_what, more, problem) => {
  const page = await signIns.findPage("good-app.example");
  const code = world.give("code", "good.example");
  expect(await signIns.finish({ code, state: stateOf(page), ...more })).toMatchObject({ problem });
  expect(asked("good.example")).toBe(0);
});

const UNNAMED = { authorization_response_iss_parameter_supported: undefined };
const idOf = (page: URL) => /\/signed-in\/([0-9a-f]{16})$/.exec(page.searchParams.get("redirect_uri") ?? "")?.[1];

test("providers whose answers do not name them have an address each, and none can answer for another", async () => {
  for (const name of ["good", "evil"]) world.addProvider(`${name}.example`, UNNAMED);
  const good = idOf(await signIns.findPage("good-app.example"));
  expect(good).toBeDefined();
  for (const id of [good, undefined]) {
    const page = await signIns.findPage("evil-app.example");
    expect(idOf(page)).not.toBe(good);
    const answer = { code: world.give("code", "good.example"), state: stateOf(page) };
    const problem = "App: The answer came from another provider. Nothing was sent to either.";
    expect(await signIns.finish(answer, id)).toMatchObject({ problem });
  }
  expect([asked("good.example"), asked("evil.example")]).toEqual([0, 0]);
  const page = await signIns.findPage("good-app.example");
  const answer = { code: world.give("code", "good.example"), state: stateOf(page) };
  expect(await signIns.finish(answer, idOf(page))).toHaveProperty("signInId");
  expect(world.asked("good.example", "/token")[0]?.form.redirect_uri).toBe(page.searchParams.get("redirect_uri"));
});

test("a client that was registered with the shared address goes on with it where no other one is given", async () => {
  await signIns.findPage("good-app.example");
  world.addProvider("good.example", UNNAMED);
  world.on("good.example/register", (response) => answerJson(response, { error: "access_denied" }, 403));
  const page = await signIns.findPage("good-app.example");
  expect(idOf(page)).toBeUndefined();
  const answer = { code: world.give("code", "good.example"), state: stateOf(page) };
  expect(await signIns.finish(answer)).toHaveProperty("signInId");
});

test.each(["code", "state", "iss"])("an answer with two values of %s is refused", async (name) => {
  const page = await signIns.findPage("good-app.example");
  const answer = new URLSearchParams({ code: world.give("code", "good.example"), state: stateOf(page), iss: GOOD });
  answer.append(name, name === "iss" ? "https://evil.example" : "another");
  expect(await signIns.finish(answer)).toHaveProperty("problem");
  expect(asked("good.example")).toBe(0);
});

test("a hostile provider that leads to the page of an honest one gets neither its code nor the verifier", async () => {
  world.addProvider("evil.example", { authorization_endpoint: "https://good.example/page" });
  const page = await signIns.findPage("evil-app.example");
  expect(page.origin).toBe(GOOD);
  const answer = { code: world.give("code", "good.example"), state: stateOf(page), iss: GOOD };
  expect(await signIns.finish(answer)).toMatchObject({
    problem: expect.stringContaining("came from another provider"),
  });
  expect(asked("evil.example")).toBe(0);
});

test("the code of one provider with the state of another is refused", async () => {
  await signIns.findPage("good-app.example");
  const evil = await signIns.findPage("evil-app.example");
  const answer = { code: world.give("code", "good.example"), state: stateOf(evil), iss: GOOD };
  expect(await signIns.finish(answer)).toMatchObject({
    problem: expect.stringContaining("came from another provider"),
  });
  expect([asked("good.example"), asked("evil.example")]).toEqual([0, 0]);
});

test("tokens from an address of its own are given a provider's own code, and no secret of another", async () => {
  world.addProvider("evil.example", { token_endpoint: "https://evil-app.example/t" });
  world.on("evil-app.example/t", world.tokens("evil-app.example"));
  const first = await signIns.findPage("good-app.example");
  const good = { code: world.give("code", "good.example"), state: stateOf(first), iss: GOOD };
  expect(await signIns.finish(good)).toHaveProperty("signInId");
  const page = await signIns.findPage("evil-app.example");
  // Its own code and secret may go to the place that its metadata name.
  world.on("evil.example/register", {});
  const answer = { code: "its-own-code", state: stateOf(page), iss: "https://evil.example" };
  expect(await signIns.finish(answer)).toHaveProperty("signInId");
  const sent = world.asked("evil-app.example", "/t")[0]?.form ?? {};
  expect([sent.code, sent.client_id]).toEqual(["its-own-code", "client-of-evil.example"]);
  world.seen.splice(world.seen.indexOf(world.asked("evil-app.example", "/t")[0] ?? expect.unreachable()), 1);
});

test("a provider's error is shown in its words, without characters that change what is around them", async () => {
  const page = await signIns.findPage("good-app.example");
  const error_description = `\u001b[2J\u202eNo.\n${"long ".repeat(100)}`;
  const end = await signIns.finish({ error: "access_denied", error_description, state: stateOf(page), iss: GOOD });
  const { problem } = "problem" in end ? end : expect.unreachable();
  expect(problem).toMatch(/^App: The sign-in has ended or was withdrawn: \[2J No\. long /);
  expect(problem).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(problem.length).toBeLessThan(300);
});
