import { expect, test } from "vitest";
import { checkOptions } from "../../../src/service/service-options.ts";

const SECRET = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;
const read = (...notify: (string | { to: string; secret?: string })[]) =>
  checkOptions({ dataDir: "x", notify }).noteTargets;

test("targets are read, each once, and named without what is secret", () => {
  const targets = read(
    { to: "ntfy:https://ntfy.example.org/a_secret-topic", secret: "tk_x" },
    "ntfy:https://ntfy.example.org/a_secret-topic",
    { to: "webhook:http://10.0.0.1:8080/path?token=1", secret: SECRET },
    "mail:me@example.org",
    "mail:con_1:me@example.org",
  );
  expect(targets.map(({ label }) => label)).toEqual([
    "ntfy at ntfy.example.org",
    "webhook at 10.0.0.1:8080",
    "mail to me@example.org",
    "mail to me@example.org",
  ]);
  expect(targets.map(({ key }) => key).join()).not.toContain("topic");
  expect(targets[3]).toMatchObject({ address: "me@example.org", connectionId: "con_1" });
});

test.each([
  "https://ntfy.example.org/topic",
  "ntfy:https://ntfy.example.org/",
  "ntfy:https://ntfy.example.org/a/b",
  "ntfy:https://user:secret@ntfy.example.org/topic",
  "ntfy:file:///etc/passwd",
  "webhook:ftp://example.org/x",
  "mail:",
  "mail:me",
  "mail:me@example.org,you@example.org:x",
  "mail:Me <me@example.org>",
])("%s is refused, and not shown", (to) => {
  expect(() => read({ to, secret: SECRET })).toThrow(
    expect.objectContaining({ code: "invalid_config", message: expect.not.stringContaining("example.org") }),
  );
});

test("a webhook has to have a secret of the right form", () => {
  for (const secret of [undefined, "", "whsec_", "whsec_c2hvcnQ=", SECRET.slice(6)]) {
    const target = { to: "webhook:https://example.org/x", ...(secret !== undefined && { secret }) };
    expect(() => read(target)).toThrow(/needs a secret/);
  }
});
