import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listenPausably } from "../../../service/pausable-server.ts";
import type { HttpAnswer } from "../../contract/http-faults.ts";
import { complete, type Item, type Json, judgeText, NotionStore } from "./notion-store.ts";
import { changeMarkdown, renderMarkdown, takeMarkdown } from "./page-markdown.ts";
import { render, renderChild, titleOf } from "./render-notion.ts";

/** The token the server knows. */
export const TOKEN = "ntn_token_of_the_tests";

/** One request as it arrived. */
export interface Asked {
  readonly method: string;
  /** Without `/v1/` and without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Json;
  readonly headers: IncomingMessage["headers"];
}

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

const refuse = (status: number, code: string, message: string): Refusal => ({ status, code, message });
const missing = (id: string) =>
  refuse(404, "object_not_found", `Could not find object with ID: ${id}. Make sure it is shared with your connection.`);

/**
 * A workspace of Notion on loopback. It answers in the documented shapes, keeps to the documented limits, and knows new
 * pages in its search only when it is told to.
 */
export async function startNotion() {
  const store = new NotionStore();
  const asked: Asked[] = [];
  let fault: (request: Asked) => HttpAnswer | undefined = () => undefined;
  let loses: (request: Asked) => boolean | Promise<boolean> = () => false;
  let indexesAtOnce = true;
  const server = createServer(async (request, response) => {
    const one = await readRequest(request);
    asked.push(one);
    const answer = fault(one);
    if (answer?.hang) return;
    if (answer?.drop) return void request.socket.destroy();
    if (answer !== undefined) return void response.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
    const done = judge(one) ?? route(store, one, indexesAtOnce);
    if (await loses(one)) return void request.socket.destroy();
    send(response, done);
  });
  const { port, ...listener } = await listenPausably(server);
  const addPage = (parent: Item | undefined, title: string, properties: Json = {}) => {
    const name = parent?.kind === "data_source" ? "Name" : "title";
    const own = { [name]: { id: "title", type: "title", title: complete([{ text: { content: title } }]) } };
    return store.add("page", parent, { properties: { ...own, ...properties } });
  };
  return {
    url: `http://127.0.0.1:${port}`,
    store,
    asked,
    addPage,
    /** A database in a page, with one source of data. */
    addDatabase(parent: Item, name: string, columns: Json): Item {
      const database = store.add("database", parent, { name });
      const properties = { Name: { id: "title", type: "title", title: {} }, ...columns };
      return store.add("data_source", database, { name, properties });
    },
    /** Adds a block that is no page. */
    addBlock: (parent: Item, data: Json) => store.add("block", parent, data),
    /** Pages right below one, by their titles. */
    listTitles: (page: Item): string[] =>
      page.children.filter(({ kind, isInTrash }) => kind === "page" && !isInTrash).map(titleOf),
    /** Answers requests otherwise; nothing is done then. */
    fail: (rule: (request: Asked) => HttpAnswer | undefined) => {
      fault = rule;
    },
    /** Does what these requests ask, and ends the connection before it answers. */
    lose: (rule: (request: Asked) => boolean | Promise<boolean>) => {
      loses = rule;
    },
    /** Lets the search know new pages at once (as at the start), or not before it is asked for. */
    indexes: (atOnce: boolean) => {
      indexesAtOnce = atOnce;
    },
    /** Requests that changed, or were to change something. */
    listWrites: () => asked.filter(isWrite),
    ...listener,
  };
}

/** The test's workspace of Notion. */
export type TestNotion = Awaited<ReturnType<typeof startNotion>>;

/** True for a request that changes something. */
function isWrite({ method, path }: Asked): boolean {
  return method !== "GET" && path !== "search" && !path.endsWith("/query");
}

async function readRequest(request: IncomingMessage): Promise<Asked> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  const url = new URL(request.url ?? "/", "http://localhost");
  const text = Buffer.concat(parts).toString("utf8");
  return {
    method: request.method ?? "",
    path: url.pathname.replace("/v1/", ""),
    query: Object.fromEntries(url.searchParams),
    body: text === "" ? undefined : JSON.parse(text),
    headers: request.headers,
  };
}

function judge({ headers, body, query }: Asked): Refusal | undefined {
  if (headers.authorization !== `Bearer ${TOKEN}`) return refuse(401, "unauthorized", "API token is invalid.");
  if (headers["notion-version"] !== "2026-03-11") return refuse(400, "missing_version", "Notion-Version is not known.");
  if (JSON.stringify(body ?? {}).length > 500_000) return refuse(413, "validation_error", "Payload too large.");
  const size = Number(body?.page_size ?? query.page_size ?? 100);
  if (size > 100) return refuse(400, "validation_error", "page_size should be ≤ `100`.");
  const problem = judgeText(body?.properties ?? {}, "body.properties");
  return problem === undefined ? undefined : refuse(400, "validation_error", `body failed validation: ${problem}`);
}

function route(store: NotionStore, one: Asked, isIndexed: boolean): Json {
  const [kind = "", id = "", action = ""] = one.path.split("/");
  if (kind === "users") return { object: "user", id: "d40e767c", type: "bot", name: "Test", bot: {} };
  if (kind === "search") return search(store, one);
  if (kind === "pages" && one.method === "POST") return createPage(store, one, isIndexed);
  const item = store.items.get(id);
  const isBlock = kind === "blocks" && item !== undefined;
  if (item === undefined || (!isBlock && `${item.kind}s` !== kind)) return missing(id);
  if (action === "children") return listChildren(item, one);
  if (action === "query") return query(item, one);
  if (one.method === "GET") return action === "markdown" ? renderMarkdown(item) : render(item);
  if (item.isInTrash && one.body?.in_trash !== false)
    return refuse(
      400,
      "validation_error",
      "Can't edit block that is archived. You must unarchive the block before editing.",
    );
  const refused = action === "markdown" ? changeMarkdown(item, one.body) : change(item, one.body);
  if (refused !== undefined) return refuse(400, "validation_error", refused);
  store.touch(item);
  return action === "markdown" ? renderMarkdown(item) : render(item);
}

function change(item: Item, { in_trash, properties = {} }: Json): undefined {
  if (in_trash !== undefined) item.isInTrash = in_trash;
  for (const [name, value] of Object.entries<Json>(properties)) {
    item.data.properties[name] = { ...item.data.properties[name], ...toValue(value) };
  }
}

function toValue(value: Json): Json {
  const [type = ""] = Object.keys(value);
  return { type, [type]: complete(value[type]) };
}

function createPage(store: NotionStore, { body }: Asked, isIndexed: boolean): Json {
  const id = body.parent?.page_id ?? body.parent?.data_source_id;
  const parent = store.items.get(id);
  if (parent === undefined || parent.isInTrash) return missing(id);
  const columns = parent.kind === "data_source" ? parent.data.properties : { title: { type: "title" } };
  for (const [name, value] of Object.entries<Json>(body.properties)) {
    const column = columns[name];
    if (column === undefined) return refuse(400, "validation_error", `${name} is not a property that exists.`);
    if (value[column.type] === undefined)
      return refuse(400, "validation_error", `${name} is expected to be ${column.type}.`);
    const options = column.status?.options?.map((one: Json) => one.name);
    if (options && !options.includes(value.status.name))
      return refuse(
        400,
        "validation_error",
        `Invalid status option. Status option "${value.status.name}" does not exist.`,
      );
  }
  const properties = Object.fromEntries(
    Object.entries<Json>(body.properties).map(([name, one]) => [name, toValue(one)]),
  );
  const unknown = Object.keys(body).find((name) => !["parent", "properties", "markdown"].includes(name));
  if (unknown !== undefined) return refuse(400, "validation_error", `body.${unknown} is not expected.`);
  const page = store.add("page", parent, { properties });
  page.isIndexed = isIndexed;
  page.text = takeMarkdown(body.markdown ?? "");
  return render(page);
}

function listChildren(item: Item, one: Asked): Json {
  const children = item.children.filter((child) => !child.isInTrash).map(renderChild);
  return toList(children, one.query, "block");
}

function query(item: Item, { body }: Asked): Json {
  const wanted = body.filter?.title?.equals;
  const pages = item.children.filter((page) => !page.isInTrash && (wanted === undefined || titleOf(page) === wanted));
  return toList(sortPages(pages, body.sorts?.[0]).map(render), body, "page_or_data_source");
}

function search(store: NotionStore, { body }: Asked): Json {
  const words = (body.query ?? "").toLowerCase();
  const found = store.list("page").filter((page) => page.isIndexed && !page.isInTrash);
  const pages = found.filter((page) => titleOf(page).toLowerCase().includes(words));
  return toList(sortPages(pages, body.sort).map(render), body, "page_or_data_source");
}

function sortPages(pages: readonly Item[], sort: Json): Item[] {
  if (sort === undefined) return [...pages];
  const sign = sort.direction === "descending" ? -1 : 1;
  return [...pages].sort((a, b) => sign * a.edited.localeCompare(b.edited));
}

function toList(all: readonly Json[], { start_cursor, page_size = 100 }: Json, type: string): Json {
  const from = start_cursor === undefined ? 0 : all.findIndex((one) => one.id === start_cursor);
  if (from === -1) return refuse(400, "validation_error", "start_cursor is not valid.");
  const results = all.slice(from, from + Number(page_size));
  const next = all[from + results.length];
  return { object: "list", results, next_cursor: next?.id ?? null, has_more: next !== undefined, type, [type]: {} };
}

function send(response: ServerResponse, answer: Json): void {
  const isRefusal = typeof answer.status === "number";
  const body = isRefusal ? { object: "error", ...answer, request_id: "c3b3afe7" } : answer;
  response.writeHead(isRefusal ? answer.status : 200, { "content-type": "application/json" }).end(JSON.stringify(body));
}
