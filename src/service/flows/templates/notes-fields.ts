import { z } from "zod";
import { parseFolderPath } from "../../files/folder.ts";
import { ServiceError } from "../../service-error.ts";
import { type PlannedCall, refuseInput } from "../flow-template.ts";

const error = 'must name where pages are created: a folder of the notes, such as "Tasks", or a page';
const place = z.string().trim().min(1, error);

/** The parent of new pages: a folder, or a page whose folder of the same name takes them. */
export const parentSchema = z.union(
  [
    place,
    z.looseObject({ page_id: place }).transform(({ page_id }) => page_id),
    z.looseObject({ path: place }).transform(({ path }) => path),
  ],
  { error },
);

/** The folder for children of `parent`; `Projects/Budget.md` has its children in `Projects/Budget`. */
export function toFolder(parent: string): string {
  return parent.replace(/\.md$/i, "");
}

/** @throws ServiceError 400, bare, naming the field, for a parent that cannot be a folder of the notes. */
export function checkParent(parent: string, field: string): void {
  try {
    parseFolderPath(toFolder(parent), field);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw refuseInput(field, error.message.replace(`arguments.${field} `, "").replace(/\.$/, ""));
  }
}

/** A page to be created. */
export interface PlannedPage {
  readonly title: string;
  readonly body: string;
  readonly parent: string;
  readonly tags: readonly string[];
  readonly properties?: Readonly<Record<string, string>>;
}

const foundSchema = z.object({ pages: z.array(z.looseObject({ page_id: z.string(), path: z.string() })) });

/** Creates one page. A comment at the end of the page lets a later attempt see that it exists. */
export function planPage(page: PlannedPage, flowId: string, index: number): PlannedCall {
  const key = String(index + 1).padStart(3, "0");
  const mark = `${flowId}-${key}`;
  return {
    key,
    label: `the page "${page.title}"`,
    arguments: { ...page, body: `${page.body}\n\n<!-- ${mark} -->` },
    find: {
      toolName: "notes_search",
      arguments: { query: mark, parent: page.parent, limit: 1 },
      pick: (output) => foundSchema.parse(output).pages[0],
    },
  };
}

/** What a step that creates pages shows: how far it is, and the pages. */
export function collectPages(pages: readonly unknown[], total: number): unknown {
  return { created: pages.length, total, pages };
}
