import type { Hono } from "hono";
import { html } from "hono/html";
import { EXACT, toPlainText } from "../../../shared/card/plain-text.ts";
import { nameUndo } from "../../../shared/wire/execution.ts";
import type { Preview } from "../../../shared/wire/preview.ts";
import { createFileAccess } from "../../executions/resolve-files.ts";
import { ServiceError } from "../../service-error.ts";
import { ownerPages } from "../owner-browser.ts";
import type { RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { csrfField, type Markup, type Page } from "./page.ts";
import { previewPart } from "./preview-part.ts";

/** The page that shows what undoing an execution would do, and its button. */
export function addUndoPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts);
  addPage("/log/:id/undo", async (c, owner) => {
    const call = await findUndo(parts, owner, c.req.param("id"));
    return show(parts, call, owner.csrfToken);
  });
  addForm("/log/:id/undo", async (c, { owner, form, audit }) => {
    const call = await findUndo(parts, owner, c.req.param("id"));
    const outcome = await parts.executor.execute({
      ...call,
      confirmed: true,
      previewState: form.get("state") ?? "",
      permission: { by: "person", name: owner.person.name },
      findHold: undefined,
      ...createFileAccess(parts, { account: owner.accountId, toolName: call.toolName }),
    });
    if (outcome.isStale === true)
      return show(parts, call, owner.csrfToken, "It was changed since this page was shown.");
    if (outcome.error !== undefined) return refused(call, outcome.error);
    audit({ event: "execution.undone", did: "undid the change", name: call.title, id: call.id });
    return `/log/${encodeURIComponent(outcome.executionId ?? call.id)}`;
  });
}

/** The undo of an execution as a call of this person. */
async function findUndo(
  parts: ServiceParts,
  owner: { readonly accountId: string; readonly person: { readonly id: string } },
  id: string,
) {
  const execution = await parts.activity.find(owner.accountId, id);
  if (execution === undefined) throw new ServiceError(404, "unknown_execution", "There is no such execution.");
  return {
    id,
    title: parts.catalog.find(execution.tool_name)?.action.title ?? execution.tool_name,
    principal: { accountId: owner.accountId, apiKeyId: owner.person.id },
    toolName: nameUndo(execution.integration),
    arguments: { execution_id: id },
    clientGone: new AbortController().signal,
  };
}

type UndoCall = Awaited<ReturnType<typeof findUndo>>;

async function show(parts: ServiceParts, call: UndoCall, csrfToken: string, notice?: string): Promise<Page> {
  const { toolName, principal } = call;
  try {
    const files = createFileAccess(parts, { account: principal.accountId, toolName });
    const { preview } = await parts.executor.preview({ ...call, describeFiles: files.describeFiles });
    return { title: "Undo", body: undoBody(call, preview, { csrfToken, notice }), section: "log" };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    return refused(call, error);
  }
}

function undoBody(
  { id }: UndoCall,
  preview: Preview,
  { csrfToken, notice }: { readonly csrfToken: string; readonly notice: string | undefined },
): Markup {
  return html`<h1>${toPlainText(preview.summary, EXACT)}</h1>
${notice === undefined ? "" : html`<p class="notice warn">${notice}</p>`}
<section class="card">
${previewPart({ preview })}
<form method="post" action="/log/${id}/undo">${csrfField(csrfToken)}<input type="hidden" name="state" value="${preview.state}">
<div class="actions"><button class="primary">Undo</button><a class="secondary" href="/log/${id}">Leave it as it is</a></div></form>
</section>`;
}

function refused({ id, title }: UndoCall, error: ServiceError): Page {
  const body = html`<h1>Undo: ${title}</h1>
<p class="notice warn">${error.message}</p>
<p>Nothing was changed. <a href="/log/${id}">Back to this execution</a></p>`;
  return { title: "Undo", body, section: "log" };
}
