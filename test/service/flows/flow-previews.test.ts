import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { builtInIntegrations } from "../../../src/apps/built-in.ts";
import { markShown } from "../../../src/service/flows/decide-flow.ts";
import type { Integration } from "../../../src/service.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { openRules } from "../access/open-rules.ts";
import { createShelf, type Shelf } from "../executions/shelf-app.ts";
import { type Browser, openBrowser } from "../http/pages/browser.ts";
import { awaitStatus, readFlow, send, startFlow } from "./flow-calls.ts";

/** The approval of a flow shows what the calls after it would do, and is one for the state that it showed. */

let shelf: Shelf;
let service: TestService;

beforeEach(async () => {
  shelf = createShelf();
  await open([...builtInIntegrations, shelf.integration]);
});
afterEach(() => service.close());

async function open(integrations: readonly Integration[], providerTimeoutMs = 30_000): Promise<void> {
  service = await startTestService({ integrations, providerTimeoutMs });
  await service.service.connections.add({ integration: "shelf", label: "Mine", settings: {} });
  await mkdir(join(service.dataDir, "templates"), { recursive: true });
}

const LONG = { timeout: 30_000 };
const ASK = { key: "ask", approve: "Go on?" };
const LIST = { type: "array", items: { type: "string" } };
async function write(key: string, steps: readonly object[], properties: object = {}): Promise<void> {
  const template = { name: key, description: "For tests.", inputs: { type: "object", properties }, steps };
  await writeFile(join(service.dataDir, "templates", `${key}.json`), JSON.stringify(template));
}
const FILL = { key: "fill", call: "shelf_fill", arguments: { with: "pears" } };

/** Starts a flow; its first step once it waits. */
async function start(key: string, input: object = {}) {
  const id = await startFlow(service, key, input);
  await awaitStatus(service, id, "waiting");
  const { steps } = await readFlow(service, id);
  return { id, step: steps.find(({ status }: { status: string }) => status === "waiting") };
}
/** Presses a button of the API; the flow once it stands still. */
async function press(id: string, verb: "approve" | "resume") {
  await send(service, `/api/flows/${id}/${verb}`);
  await expect.poll(async () => (await readFlow(service, id)).status, LONG).not.toMatch(/pending|running/);
  return readFlow(service, id);
}

describe("what a waiting approval shows", () => {
  test("is what the calls after it would do, in the API and beside the output that programs know", async () => {
    await write("fill", [ASK, FILL]);
    const { step } = await start("fill");
    expect(step.previews).toEqual([
      expect.objectContaining({
        ...{ stepKey: "fill", toolName: "shelf_fill", key: "001", item: 0 },
        preview: expect.objectContaining({
          summary: "Put pears into the box, in place of apples",
          changes: [{ field: "Content", before: "apples", after: "pears" }],
          undo: { possible: false, why: "Nothing is kept." },
        }),
      }),
    ]);
    expect(Object.keys(step.output).sort()).toEqual(["accounts", "approved", "calls", "message"]);
    expect(shelf.content).toBe("apples");
  });

  test("is there for the templates that come with the service", async () => {
    const { step } = await start("notes_reminder", { text: "Water the plants", delaySeconds: 60 });
    const [one, ...more] = step.previews;
    expect(more).toEqual([]);
    expect(one.preview.summary).toMatch(/^Create the page "Reminder: Water the plants" in "Local notes"/);
    expect(one.preview.effects).toContainEqual({ code: "creates_folder", text: 'New folder: "Reminders".' });
  });

  test("is gone from the step once it is decided", async () => {
    await write("fill", [ASK, FILL]);
    const { id } = await start("fill");
    const { steps } = await press(id, "approve");
    expect(steps.map((step: object) => "previews" in step)).toEqual([false, false]);
    expect(steps[0].output).not.toHaveProperty("previews");
  });

  test.each(["fails", "hangs"] as const)("is asked all the same where the look %s, and says so", async (look) => {
    shelf.look = look;
    if (look === "hangs") {
      await service.close();
      await open([shelf.integration], 300);
    }
    await write("fill", [ASK, FILL]);
    const { id, step } = await start("fill");
    expect(step.previews).toMatchObject([
      {
        missing: { code: "not_readable", text: "The present state could not be read." },
        label: '"Fill the box: pears"',
      },
    ]);
    expect(step.previews[0].preview).toBeUndefined();
    expect((await press(id, "approve")).status).toBe("completed");
    expect(shelf.content).toBe("pears");
  });

  test("says where a call would be refused as things are", async () => {
    shelf.content = undefined;
    await write("fill", [ASK, FILL]);
    const { step } = await start("fill");
    expect(step.previews[0].missing).toEqual({
      code: "refused",
      text: "As things are, it would be refused: There is no box.",
    });
  });

  test("takes at most 64 kB, and says what is left out", async () => {
    shelf.content = "a".repeat(3000);
    const each = { ...FILL, each: "{{inputs.all}}", arguments: { with: "{{item}}" } };
    await write("fill", [ASK, each], { all: LIST });
    const all = Array.from({ length: 60 }, (_, index) => `${index} ${"b".repeat(3000)}`);
    const { step } = await start("fill", { all });
    const { previews } = step;
    expect(Buffer.byteLength(JSON.stringify(previews))).toBeLessThanOrEqual(64 * 1024);
    const codes = previews.map(({ missing }: { missing?: { code: string } }) => missing?.code ?? "shown");
    expect(codes[0]).toBe("shown");
    expect(codes).toContain("too_large");
    expect(previews.at(-1).missing).toEqual({ code: "too_many", text: "10 more calls were not looked at." });
    expect(shelf.looked).toBe(50);
  });

  test("is not told to a key that may read nothing of the app", async () => {
    await service.close();
    const { integration } = shelf;
    const look = { ...integration.actions[0], id: "look", level: "read", requiresConfirmation: false } as const;
    const app = { ...integration, actions: [...integration.actions, look] } as Integration;
    await open([app]);
    await write("fill", [ASK, FILL]);
    const { id } = await start("fill");
    const isTold = async () => "previews" in (await readFlow(service, id)).steps[0];
    expect(await isTold()).toBe(true);
    const rules = await openRules(service);
    await rules.add({ effect: "block", tool: "shelf_look" }, "test");
    await rules.close();
    expect(await isTold()).toBe(false);
  });
});

describe("an approval counts for the state that it showed", () => {
  test("the call does not run on another one, however often the flow is resumed", async () => {
    await write("fill", [ASK, FILL]);
    const { id } = await start("fill");
    shelf.content = "plums";
    for (const verb of ["approve", "resume"] as const) {
      const { status, steps } = await press(id, verb);
      expect(status).toBe("failed");
      expect(steps[1].error).toMatchObject({
        code: "state_changed",
        message: expect.stringContaining("was changed after it was shown for the approval. Nothing of it was done."),
        hint: "Start the flow again: its approval shows the present state.",
      });
      expect(shelf.content).toBe("plums");
    }
    shelf.content = "apples";
    expect((await press(id, "resume")).status).toBe("completed");
    expect(shelf.content).toBe("pears");
  });

  test("the second of two calls does not replace what the first one wrote", async () => {
    await write("fill", [ASK, { ...FILL, each: "{{inputs.all}}", arguments: { with: "{{item}}" } }], { all: LIST });
    const { id } = await start("fill", { all: ["pears", "plums"] });
    const { status, steps } = await press(id, "approve");
    expect([status, steps[1].error.code, shelf.content]).toEqual(["failed", "state_changed", "pears"]);
  });

  test("a call that failed for another reason runs on the state that was shown when the flow is resumed", async () => {
    await write("fill", [ASK, FILL]);
    const { id } = await start("fill");
    shelf.beforeRun = () => {
      shelf.beforeRun = () => {};
      throw new Error("The shelf fell over.");
    };
    expect((await press(id, "approve")).status).toBe("failed");
    expect((await press(id, "resume")).status).toBe("completed");
    expect(shelf.content).toBe("pears");
  });
});

test("a call whose first try may have been made is made again when the flow is resumed", async () => {
  await service.close();
  const [fill] = shelf.integration.actions;
  if (fill?.preview === undefined) throw new TypeError();
  const look = fill.preview;
  const preview: typeof look = async (...given) => {
    const draft = await look(...given);
    return draft && { ...draft, changes: (draft.changes ?? []).filter(({ before, after }) => before !== after) };
  };
  const app: Integration = { ...shelf.integration, actions: [{ ...fill, preview }] };
  await open([app]);
  await write("fill", [ASK, FILL]);
  const { id } = await start("fill");
  shelf.beforeRun = () => {
    shelf.beforeRun = () => {};
    shelf.content = "pears";
    throw new Error("The answer was lost.");
  };
  expect((await press(id, "approve")).steps[1].error.code).toBe("unexpected_error");
  expect((await press(id, "resume")).status).toBe("completed");
});

describe("changes of pages", () => {
  const page = (name: string) => join(service.dataDir, "notes", `${name}.md`);
  const put = (name: string, text: string) => writeFile(page(name), `---\ntitle: ${name}\n---\n${text}\n`);
  const update = (change: object) => ({
    ...{ key: "update", call: "notes_update_page", each: "{{inputs.pages}}" },
    arguments: { page_id: "{{item}}.md", title: "{{item}}", ...change },
  });
  let browser: Browser;

  beforeEach(async () => {
    await mkdir(join(service.dataDir, "notes"), { recursive: true });
    for (const name of ["Ash", "Birch", "Cedar"]) await put(name, `${name} as it was`);
    browser = openBrowser();
    await browser.open(await service.service.signInUrl());
  });

  /** Approves what is ticked on the page of the flow. */
  async function approveSome(id: string, items: readonly number[]) {
    const { text } = await browser.open(`${service.url}/flows/${id}`);
    const form = text.split(`action="/flows/${id}/approve">`)[1]?.split("</form>")[0] ?? "";
    const held = [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(
      ([, name = "", value = ""]): [string, string] => [name, value],
    );
    const ticked = items.map((item): [string, string] => ["item", String(item)]);
    await browser.submit(`${service.url}/flows/${id}/approve`, [...held, ...ticked]);
    await expect.poll(async () => (await readFlow(service, id)).status, LONG).not.toMatch(/waiting|pending|running/);
    return readFlow(service, id);
  }

  test("two calls that add to one page both run", async () => {
    await write("add", [ASK, update({ append: "more" })], { pages: LIST });
    const { id } = await start("add", { pages: ["Ash", "Ash"] });
    expect((await press(id, "approve")).status).toBe("completed");
    expect(await readFile(page("Ash"), "utf8")).toContain("Ash as it was\nmore\nmore\n");
  });

  test("a call does what was shown of it, though the one before it has made the folder that both need", async () => {
    const move = {
      ...update({}),
      call: "drive_move_file",
      arguments: { path: "{{item}}", destination: "Old/{{item}}" },
    };
    await write("move", [ASK, move], { pages: LIST });
    const drive = (name: string) => join(service.dataDir, "drive", name);
    await mkdir(join(service.dataDir, "drive"), { recursive: true });
    for (const name of ["a.txt", "b.txt", "c.txt"]) await writeFile(drive(name), name);
    const { id, step } = await start("move", { pages: ["a.txt", "b.txt", "c.txt"] });
    for (const { preview } of step.previews)
      expect(preview.effects).toContainEqual(expect.objectContaining({ code: "creates_folder" }));
    await rm(drive("c.txt"));
    await writeFile(drive("c.txt"), "another one");
    const { status, steps } = await press(id, "approve");
    expect([status, steps[1].error.code]).toEqual(["failed", "state_changed"]);
    expect(await readdir(drive("Old"))).toEqual(["a.txt", "b.txt"]);
  });

  test("what is left out may change; what is kept is bound to what was shown of it", async () => {
    await write("replace", [ASK, update({ body: "new" })], { pages: LIST });
    const pages = ["Ash", "Birch", "Cedar"];
    const [left, stale] = [await start("replace", { pages }), await start("replace", { pages })];
    await put("Ash", "Changed by hand");
    expect((await approveSome(left.id, [1])).status).toBe("completed");
    expect(await readFile(page("Birch"), "utf8")).toMatch(/---\nnew\n?$/);
    expect(await readFile(page("Ash"), "utf8")).toContain("Changed by hand");
    await put("Birch", "Birch by hand");
    const failed = await approveSome(stale.id, [1, 2]);
    expect([failed.status, failed.steps[1].error.code]).toEqual(["failed", "state_changed"]);
    expect(await readFile(page("Birch"), "utf8")).toContain("Birch by hand");
    expect(await readFile(page("Cedar"), "utf8")).toContain("Cedar as it was");
  });

  test("stand on the page of the flow below each box, and as text", async () => {
    await put("Ash", "<b>Ash</b>");
    await write("replace", [ASK, update({ body: "new" })], { pages: LIST });
    const { id } = await start("replace", { pages: ["Ash", "Birch"] });
    const { text } = await browser.open(`${service.url}/flows/${id}`);
    const [first = "", second = ""] = text.split('id="item-1"');
    expect(first).toContain("Replace text of &quot;Ash&quot; in &quot;Local notes&quot; (1 line gone, 1 new)");
    expect(first).toContain("<del>− &lt;b&gt;Ash&lt;/b&gt;</del>");
    expect(first).toMatch(/Undo: possible until \d{4}-\d\d-\d\d/);
    expect(second).toContain("<del>− Birch as it was</del><ins>+ new</ins>");
    expect(second).toContain('<summary>As it is sent<span class="hidden">: ');
  });

  test("that could not be looked at say so there", async () => {
    shelf.look = "fails";
    await write("fill", [ASK, FILL]);
    const { id } = await start("fill");
    const { text } = await browser.open(`${service.url}/flows/${id}`);
    expect(text).toContain("The present state could not be read when this was asked");
    expect(text).toContain("A call does not run if what it acts on has changed since.");
  });

  test("that were not made say on the page that the flow is to be started again", async () => {
    await write("fill", [ASK, FILL]);
    const { id } = await start("fill");
    shelf.content = "plums";
    await press(id, "approve");
    const { text } = await browser.open(`${service.url}/flows/${id}`);
    expect(text).toMatch(/Nothing of it was done\. Start the flow again: its approval shows the present state\.<\/p>/);
  });
});

test("a decision counts for the previews that the page showed", async () => {
  await write("fill", [ASK, FILL]);
  const { id, step } = await start("fill");
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  const { text } = await browser.open(`${service.url}/flows/${id}`);
  expect(text).toContain(`name="seen" value="${markShown(step)}"`);
  expect(markShown({ ...step, previews: [] })).not.toBe(markShown(step));
});
