import { describe, expect, test } from "vitest";
import { parseReference } from "../../../../src/plugin/media/locate/parse-reference.ts";
import type { MediaRoot } from "../../../../src/plugin/media/open/roots.ts";

const ID = "0b8a1c9e-5d3f-4e21-9a77-3c5b1f0e2d44";
/** As OpenClaw names an attachment in the container of an agent. */
const COPY = `/workspace/media/inbound/openclaw-staged-${ID}/input-a---${ID}.png`;

describe("row 47, as far as text decides it", () => {
  const root: MediaRoot = { configured: "C:\\Media", canonical: "C:\\Media", anchor: undefined };
  const scope = { list: [root], home: "C:\\Users\\x", platform: "win32" } as const;

  test.each([
    ["C:\\Media\\a.png:stream", "reserved_name"],
    ["C:\\Media\\CON", "reserved_name"],
    ["C:\\Media\\NUL.txt", "reserved_name"],
    ["C:\\Media\\com1.log", "reserved_name"],
    ["C:\\Media\\a.png.", "reserved_name"],
    ["C:\\Media\\a.png ", "reserved_name"],
    ["C:\\Media\\..\\x", "dotdot"],
    ["C:\\Media\\sub/../x", "dotdot"],
    ["C:\\MediaEvil\\a.png", "outside_roots"],
    ["D:\\Media\\a.png", "outside_roots"],
    ["C:Media\\a.png", "relative_path"],
    ["\\Media\\a.png", "network_path"],
    ["/workspace/notes.txt", "outside_roots"],
    ["/workspace/media/inbound/../a.png", "dotdot"],
    [`${COPY}/`, "is_directory"],
    ["/workspace\\media/inbound/a.png", "network_path"],
    ["\\\\host\\share\\a.png", "network_path"],
    ["\\\\?\\C:\\Media\\a.png", "network_path"],
    ["\\??\\C:\\Media\\a.png", "network_path"],
    ["C:\\Media\\", "is_directory"],
  ])("refuses %s", (reference, code) => {
    expect(parseReference(reference, scope)).toEqual({ ok: false, code });
  });

  test.each(["c:\\media\\a.png", "C:/Media/a.png", "file:///C:/Media/a.png", "media://inbound/a.png", COPY])(
    "reads %s",
    (reference) => {
      expect(parseReference(reference, scope)).toMatchObject({ ok: true });
    },
  );
});
