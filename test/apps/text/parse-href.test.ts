import { expect, it } from "vitest";
import { parseHref } from "../../../src/apps/text/parse-href.ts";

it.each([
  ["/dav/t #:?3.ics", "https://dav.example/dav/t%20%23:%3F3.ics"],
  ["/dav/100%.ics", "https://dav.example/dav/100%25.ics"],
  ["/dav/100%25%20a.ics", "https://dav.example/dav/100%25%20a.ics"],
  ["https://dav.example/dav/a#b.ics", "https://dav.example/dav/a%23b.ics"],
  ["//dav/a.ics", "https://dav.example/dav/a.ics"],
  ["\n /dav/a\tb.ics\n", "https://dav.example/dav/a%09b.ics"],
  ["/dav/Grüße.ics", "https://dav.example/dav/Gr%C3%BC%C3%9Fe.ics"],
])("reads %s of an answer as one address", (href, url) => {
  expect(parseHref(href, "https://dav.example/dav/")?.href).toBe(url);
});
