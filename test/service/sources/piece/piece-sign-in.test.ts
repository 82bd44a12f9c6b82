import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Browser, openBrowser, readCsrf } from "../../pages/browser.ts";
import { openPieces } from "./open-piece.ts";

const FIXTURE = fileURLToPath(new URL("../../../fixtures/pieces/parcel", import.meta.url));
const SECRET = "key-of-the-parcel-office";

let opened: Awaited<ReturnType<typeof openPieces>>;
let browser: Browser;

beforeAll(async () => {
  opened = await openPieces([FIXTURE], [{ piece: "parcel", host: "api.parcel.test", settings: { secret: SECRET } }]);
  browser = openBrowser();
  await browser.open(await opened.service.service.signInUrl());
}, 180_000);

beforeEach(() => {
  opened.api.seen.length = 0;
});

afterAll(() => opened?.close());

/** Types a key into the connect form; the text below its field, or where the browser is led. */
async function enter(secret: string): Promise<string> {
  const url = `${opened.service.url}/connect/parcel`;
  const csrf = readCsrf(await browser.open(url));
  const answer = await browser.submit(url, { csrf, label: "Depot", "set.secret": secret });
  expect(answer.text).not.toContain(secret);
  return /id="set-secret-problem">([^<]*)</.exec(answer.text)?.[1] ?? String(answer.headers.location ?? answer.text);
}

test("a wrong key is refused when it is entered, in the piece's own words, without the key in any form", async () => {
  opened.api.answer({ status: 401, body: "No such key." });
  expect(await enter("key-of-nobody")).toBe("Parcel: It was refused: [31mFailed to GET: No such key. (***, ***)");
  expect(opened.api.seen).toMatchObject([{ path: "/v1/me", headers: { authorization: "Bearer key-of-nobody" } }]);
  expect(await opened.service.service.connections.list("parcel")).toHaveLength(1);
});

test("a provider that does not answer is not taken for a wrong key", async () => {
  opened.api.answer({ status: 503, body: "Closed." });
  expect(await enter("key-of-the-depot")).toContain("Parcel: Its provider could not be asked. Try again later:");
});

test("a key that the piece takes is connected", async () => {
  expect(await enter("key-of-the-depot")).toBe("/connections?notice=connected");
  expect(await opened.service.service.connections.list("parcel")).toHaveLength(2);
});
