import { describe, expect, test } from "vitest";
import { builtInIntegrations } from "../../../src/apps/built-in.ts";
import { matchesTool, toolPatternSchema } from "../../../src/service/access/tool-patterns.ts";

function tool(slug: string, id: string) {
  const [integration] = builtInIntegrations;
  const [action] = integration?.actions ?? [];
  if (integration === undefined || action === undefined) throw new Error("There is no built-in app.");
  return { toolName: `${slug}_${id}`, integration: { ...integration, slug }, action: { ...action, id } };
}

const drive = tool("google-drive", "list-files");

describe("a pattern on tools", () => {
  test.each([
    ["google-drive_list-files", true, true],
    ["google-drive_list_files", true, true],
    ["GOOGLE-DRIVE_List-Files", true, true],
    ["google-drive/list_files", true, true],
    ["google-drive/google-drive_list-files", true, true],
    ["google-drive/*", true, true],
    ["google-drive_*", true, true],
    ["*/list_*", true, true],
    ["*_files", true, true],
    ["*", true, true],
    // Where the app is not named as it is, nothing is granted.
    ["google_drive_list_files", true, false],
    ["google_*", true, false],
    ["google_drive/*", true, false],
    ["googledrive/listfiles", true, false],
    ["google/*", false, false],
    ["list_files", false, false],
    ["*/list", false, false],
    ["google-drive/list_files_now", false, false],
    ["drive/list_files", false, false],
    ["drive_*", false, false],
  ])("%s: forbids %s, grants %s", (pattern, wide, narrow) => {
    expect(toolPatternSchema.parse(pattern)).toBe(pattern);
    expect(matchesTool(pattern, drive, "wide")).toBe(wide);
    expect(matchesTool(pattern, drive, "narrow")).toBe(narrow);
  });

  test("of one app does not reach an app whose id begins with it", () => {
    expect(matchesTool("mail_*", tool("mail", "send"), "narrow")).toBe(true);
    expect(matchesTool("mail_*", tool("mailchimp", "send"), "wide")).toBe(false);
    expect(matchesTool("mail/*", tool("mail-list", "send"), "wide")).toBe(false);
    expect(matchesTool("mail_list_send", tool("mail-list", "send"), "narrow")).toBe(false);
  });

  test.each([
    ["", "is missing"],
    ["  ", "is missing"],
    ["mail send", "has letters"],
    ["mail/send/now", 'has one "/"'],
    ["/send", 'has one "/"'],
    ["mail/", 'has one "/"'],
    ["mail_[a-z]", "has letters"],
    ["ma\u0456l_*", "has letters"],
    ["*".repeat(129), "at most 128"],
  ])("refuses %j in a sentence", (text, said) => {
    expect(toolPatternSchema.safeParse(text).error?.issues[0]?.message).toContain(said);
  });

  test("of many stars takes no time", () => {
    expect(matchesTool("*a".repeat(64), tool("a", "a".repeat(60)), "wide")).toBe(false);
  });
});
