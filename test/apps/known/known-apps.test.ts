import { expect, test } from "vitest";
import { z } from "zod";
import { builtInIntegrations } from "../../../src/apps/built-in.ts";
import { searchKnownApps, writeLongCommand } from "../../../src/apps/known/known-app-command.ts";
import { KNOWN_APPS_CHECKED, knownApps } from "../../../src/apps/known/known-apps.ts";
import { findProviderSteps } from "../../../src/apps/known/provider-steps.ts";
import { parseLevelRule } from "../../../src/apps/port/action-levels.ts";
import { checkSlug } from "../../../src/apps/port/source.ts";
import { isPublicHost } from "../../../src/service/fetch/address-rules.ts";

/** The table of apps that are added by their name. */

const address = z.url({ protocol: /^https?$/ }).refine((url) => new URL(url).username === "");
const publicAddress = address.refine((url) => url.startsWith("https:") && isPublicHost(new URL(url).hostname));
const appSchema = z
  .strictObject({
    slug: z.string(),
    name: z.string().min(2).max(16),
    group: z.enum(["Work", "Google", "Microsoft", "Home and chat"]),
    about: z.string().regex(/^[A-Z].{5,39}[^.]$/),
    kind: z.enum(["mcp", "openapi"]),
    address,
    options: z.strictObject({
      trust: z.literal(true).optional(),
      private: z.literal(true).optional(),
      header: z.array(z.string().regex(/^[A-Za-z-]+$/)).optional(),
      scope: z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/)).optional(),
      level: z
        .array(z.string().refine((rule) => parseLevelRule(rule, { setAt: "2026-01-01T00:00:00Z", setIn: "command" })))
        .optional(),
      baseUrl: z.string().startsWith("https://").optional(),
      authUrl: publicAddress.optional(),
      tokenUrl: publicAddress.optional(),
    }),
    signIn: z.enum(["page", "own app", "key", "header"]),
    needs: z.string().regex(/^(?!You need).*[^.]$/),
    source: z.string().startsWith("https://"),
  })
  .refine(({ address: url, options }) => options.private === true || publicAddress.safeParse(url).success)
  .refine(({ signIn, options }) => (signIn === "header") === (options.header !== undefined))
  .refine(({ kind, options }) => kind === "mcp" || options.trust === undefined);

test.each(knownApps.map((app) => [app.slug, app] as const))("%s is well-formed", (_slug, app) => {
  expect(appSchema.safeParse(app).error).toBeUndefined();
});

test("no two names are so close that callers could mix them up, and no built-in app has one of them", () => {
  for (const [index, { slug }] of knownApps.entries()) {
    const others = [...builtInIntegrations, ...knownApps.slice(0, index)].map((app) => app.slug);
    expect(() => checkSlug(slug, others)).not.toThrow();
  }
  expect(z.iso.date().safeParse(KNOWN_APPS_CHECKED).success).toBe(true);
});

test.each([
  ["linaer", ["linear"]],
  ["calender", ["google-calendar", "outlook-calendar"]],
  ["jira", ["atlassian"]],
  ["git", ["github"]],
  ["zzzzzz", []],
])("%s is found as %j", (text, slugs) => {
  expect(
    searchKnownApps(text)
      .slice(0, Math.max(1, slugs.length))
      .map(({ slug }) => slug)
      .sort(),
  ).toEqual(slugs);
});

test("without a text all are found, in the order of the table", () => {
  expect(searchKnownApps(" ")).toBe(knownApps);
});

test("what a shell would read in another way is quoted in a long command", () => {
  const way = { address: "https://x.example/$a?b=1", name: "It's", trust: true, scope: ["a", "b c"] } as const;
  expect(writeLongCommand({ kind: "openapi", slug: "x" }, way)).toBe(
    "svc add openapi x 'https://x.example/$a?b=1' --name 'It'\\''s' --trust --scope a --scope 'b c'",
  );
});

test.each([
  ["https://accounts.google.com/o/oauth2/v2/auth", "Google"],
  ["https://login.microsoftonline.com/common/oauth2/v2.0/authorize", "Microsoft"],
  ["https://slack.com/oauth/v2_user/authorize", "Slack"],
  ["https://github.com/login/oauth/authorize", "GitHub"],
  ["https://auth.atlassian.com/authorize", "Atlassian"],
  ["https://mcp.notion.com/authorize", "Notion"],
  ["https://linear.app/oauth/authorize", "Linear"],
  ["https://app.asana.com/-/oauth_authorize", "Asana"],
  ["https://mcp.hubspot.com/oauth/authorize/user", "HubSpot"],
  ["https://github.com.example.org/login", undefined],
  ["https://notslack.com/oauth", undefined],
  ["no address", undefined],
])("the steps for the sign-in page %s are those of %s", (page, name) => {
  const steps = findProviderSteps(page);
  expect(steps?.name).toBe(name);
  if (steps === undefined) return;
  expect(publicAddress.safeParse(steps.page).success).toBe(true);
  expect(steps.steps.length).toBeLessThanOrEqual(4);
  expect(steps.steps.join(" ")).toContain("the redirect address above");
});
