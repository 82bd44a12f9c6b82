import { describe, expect, it } from "vitest";
import { partJoined, partQuoted } from "../../../src/apps/mail/quoted-text.ts";

const OLD = "Please pay to DE02 1203.";

describe("the lines of a mail", () => {
  it.each([
    ["English", "On Mon, 3 Aug 2026 at 10:15, Bea Marsh <bea@marsh.example> wrote:"],
    ["German", "Am 03.08.2026 um 10:15 schrieb Bea Marsh <bea@marsh.example>:"],
    ["French", "Le lun. 3 août 2026 à 10:15, Bea Marsh <bea@marsh.example> a écrit :"],
    ["Spanish", "El lun, 3 ago 2026 a las 10:15, Bea Marsh (<bea@marsh.example>) escribió:"],
    ["Italian", "Il giorno lun 3 ago 2026 alle ore 10:15 Bea Marsh <bea@marsh.example> ha scritto:"],
    ["Japanese", "2026年8月3日(月) 10:15 Bea Marsh <bea@marsh.example>:"],
    ["Chinese", "Bea Marsh <bea@marsh.example> 于2026年8月3日周一 10:15写道:"],
    ["Russian", "пн, 3 авг. 2026 г. в 10:15, Bea Marsh <bea@marsh.example>:"],
    ["broken into lines", "On Mon, 3 Aug 2026 at 10:15, Bea Marsh\n<bea@marsh.example>\nwrote:"],
  ])("are parted below an introduction: %s", (_, introduction) => {
    const parted = partQuoted(`Mine above.\n\n${introduction}\n\n> ${OLD}\n>> older\n\nMine below.`);
    expect(parted.own).toBe("Mine above.\n\n\n\n\nMine below.".replace("\n\n\n\n\n", `${"\n".repeat(4)}`));
    expect(parted.quoted).toContain(OLD);
    expect(parted.quoted).toContain("older");
    expect(parted.by).toContain("bea@marsh.example");
  });

  it.each([
    ["without marks", `On Mon, 3 Aug 2026, Bea Marsh <bea@marsh.example> wrote:\n${OLD}`],
    [
      "by Outlook",
      `________________________________\nFrom: Bea Marsh <bea@marsh.example>\nSent: Monday\nTo: me\n\n${OLD}`,
    ],
    ["by Outlook in German", `Von: Bea Marsh <bea@marsh.example>\nGesendet: Montag, 3. August 2026\nAn: me\n\n${OLD}`],
    ["as forwarded", `---------- Forwarded message ---------\nFrom: Bea <bea@marsh.example>\nDate: Mon\n\n${OLD}`],
    ["by an old program", `-----Original Message-----\nFrom: bea@marsh.example\nSubject: Money\n\n${OLD}`],
  ])("are quoted to the end: %s", (_, below) => {
    const { own, quoted, by } = partQuoted(`Mine.\n\n${below}\n\nBea`);
    expect(own).toBe("Mine.");
    expect(quoted).toMatch(/Please pay.*Bea$/s);
    expect(by).toContain("bea@marsh.example");
  });

  it("are the sender's where nothing is quoted", () => {
    const text =
      "Hi Bea,\n\nwe meet at 10:30:\n- room 4\n- bring the lease\n\nFrom: the desk of Sam\n\n-- \nSam\n3 > 2";
    expect(partQuoted(text)).toEqual({ own: text, quoted: "", by: undefined });
  });

  it("belong to a quote where a program broke a long marked line", () => {
    const long = `> ${"word ".repeat(14)}pay to`;
    const { own, quoted } = partQuoted(`${long}\nDE02 1203\n> Bea\nMine.`);
    expect([own, quoted]).toEqual(["Mine.", `${long}\nDE02 1203\n> Bea`]);
  });

  it("take time in proportion to their length", () => {
    for (const text of [
      "a:\n".repeat(70_000),
      `${"x@y 10:30 ".repeat(20_000)}:`,
      "From: \n".repeat(30_000),
      "<".repeat(200_000),
    ])
      expect(partQuoted(text).own.length + partQuoted(text).quoted.length).toBeGreaterThan(0);
  });

  it("are parted in a joined text, too", () => {
    const joined = `Thanks. I come. On Mon, 3 Aug 2026 at 10:15, Bea Marsh <bea@marsh.example> wrote: > ${OLD}`;
    expect(partJoined(joined)).toMatchObject({ own: "Thanks. I come.", by: "Bea Marsh <bea@marsh.example>" });
    expect(partJoined(`Mine. > ${OLD}`)).toMatchObject({ own: "Mine.", quoted: `> ${OLD}` });
    expect(partJoined(`See below. From: Bea <bea@marsh.example> Sent: Monday ${OLD}`).own).toBe("See below.");
    expect(partJoined("We meet at 10:30: room 4.").own).toBe("We meet at 10:30: room 4.");
  });
});
