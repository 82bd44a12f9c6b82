import { describe, expect, it } from "vitest";
import { readResponseName } from "../../../src/service/files/file-name.ts";

const read = (disposition: string | undefined, path = "/dir/fallback.bin?x=a/b") =>
  readResponseName(disposition, new URL(path, "https://files.example.org"));

describe("readResponseName", () => {
  it.each([
    [undefined, "fallback.bin"],
    ["attachment", "fallback.bin"],
    ["attachment; filename=a.pdf", "a.pdf"],
    ['attachment; filename="a b; c.pdf"', "a b; c.pdf"],
    ['inline;FILENAME = "a\\"b.pdf" ; x=y', 'a"b.pdf'],
    ["attachment; filename=a.pdf; filename*=UTF-8''%e2%82%ac%20rates.pdf", "€ rates.pdf"],
    ["attachment; filename*=iso-8859-1'en'%A3%20rates.pdf; filename=a.pdf", "£ rates.pdf"],
    ["attachment; filename*=UTF-8''%ff.pdf; filename=a.pdf", "a.pdf"],
    ["attachment; filename*=koi8-r''%c1.pdf; filename=a.pdf", "a.pdf"],
    ["attachment; filename*=UTF-8''; filename=a.pdf", "a.pdf"],
    [`attachment; filename="${Buffer.from("straße.pdf").toString("latin1")}"`, "straße.pdf"],
    [`attachment; filename="${Buffer.from("straße.pdf", "latin1").toString("latin1")}"`, "straße.pdf"],
    ['attachment; filename="../../etc/passwd"', "passwd"],
    ["attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd", "passwd"],
    ['attachment; filename="C:\\\\Windows\\\\x.exe"', "x.exe"],
    ["attachment; filename*=UTF-8''a%0d%0ab%00.pdf", "ab.pdf"],
    ["attachment; filename*=UTF-8''gpj.%e2%80%aeexe.txt", "gpj.exe.txt"],
    ['attachment; filename=".."', "fallback.bin"],
    ['attachment; filename=""', "fallback.bin"],
    ['attachment; filename="unclosed', "fallback.bin"],
    [`attachment; ${";a=".repeat(5000)}; filename=late.pdf`, "fallback.bin"],
  ])("reads %j as %j", (disposition, name) => {
    expect(read(disposition)).toBe(name);
  });

  it.each([
    ["/a/b%20c.pdf", "b c.pdf"],
    ["/a/", "a"],
    ["/", "file"],
    ["/%2e%2e%2f", "file"],
    ["/a%2Fb.pdf", "b.pdf"],
    ["/bad%ff.pdf", "bad%ff.pdf"],
  ])("takes the name from the path %s as %j", (path, name) => {
    expect(read(undefined, path)).toBe(name);
  });

  it("cuts long names before their extension", () => {
    const name = read(`attachment; filename=${"a".repeat(1000)}.pdf`);
    expect([name.length <= 200, name.endsWith(".pdf")]).toEqual([true, true]);
  });
});
