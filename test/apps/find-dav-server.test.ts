import { describe, expect, it } from "vitest";
import { findDavServer } from "../../src/apps/collections/find-dav-server.ts";
import { refusal } from "./run-action.ts";

const asked: string[] = [];
const dns = {
  async resolveSrv(name: string) {
    asked.push(name);
    if (name.endsWith("example.org"))
      return [
        { name: "second.example.org", port: 443, priority: 2, weight: 9 },
        { name: "dav.example.org", port: 8443, priority: 1, weight: 1 },
      ];
    if (name.endsWith("inside.example")) return [{ name: "dav.internal", port: 443, priority: 1, weight: 1 }];
    throw Object.assign(new Error("none"), { code: "ENOTFOUND" });
  },
};
const find = (address: string, accountType: "caldav" | "carddav" = "caldav") =>
  findDavServer(address, { accountType }, dns);

describe("the server of a mail address", () => {
  it("is that of a known provider", async () => {
    expect(await find("me@iCloud.com")).toMatchObject({
      values: { server: "https://caldav.icloud.com" },
      note: expect.stringMatching(/app password/),
    });
    expect((await find("me@gmx.de", "carddav")).values).toEqual({ server: "https://carddav.gmx.net" });
    expect(await find("me@gmail.com")).toMatchObject({
      values: {},
      note: expect.stringContaining("“svc add google-calendar”"),
    });
    expect((await find("me@live.com", "carddav")).note).toContain("“svc add openapi” or “svc add mcp”");
    expect(asked).toEqual([]);
  });

  it("is what its domain names, unless that is no public host, and else the domain", async () => {
    expect((await find("me@example.org")).values).toEqual({ server: "https://dav.example.org:8443" });
    expect(asked).toEqual(["_caldavs._tcp.example.org"]);
    expect((await find("me@inside.example")).values).toEqual({ server: "https://inside.example" });
    expect((await find("me@other.example", "carddav")).values).toEqual({ server: "https://other.example" });
    expect((await refusal(find("nobody"))).options.extra).toEqual({ setting: "address" });
  });
});
