import type { Hono } from "hono";
import { html } from "hono/html";
import { toPlainText } from "../../../shared/card/plain-text.ts";
import type { OwnerSession } from "../../auth/owner-sessions.ts";
import { createSecret } from "../../auth/secrets.ts";
import type { Connection } from "../../connections/connection.ts";
import { type FlowTemplate, readInputProblem } from "../../flows/flow-template.ts";
import type { FileProblem } from "../../flows/own/template-files.ts";
import { type InputField, listFields } from "../../flows/template-input.ts";
import { ServiceError } from "../../service-error.ts";
import { ownerPages } from "../owner-browser.ts";
import type { RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import {
  type FieldProblem,
  inputFields,
  nameFields,
  readInput,
  readTyped,
  type TypedValues,
  toTyped,
} from "./flow-inputs.ts";
import { csrfField, type Markup, messageBody, type Page } from "./page.ts";

/** Longest key of a form that starts a flow, in characters. */
const MAX_KEY = 100;

/** The templates, and the form that starts a flow from each. */
export function addStartPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts);
  const { flows } = parts;
  const find = (key: string) => flows.listAll().find((template) => template.key === key);
  const show = async (template: FlowTemplate, owner: OwnerSession, o: Partial<StartPage>): Promise<Page> => {
    const connections = await parts.connections.list();
    const body = startBody({ template, connections, csrfToken: owner.csrfToken, startKey: createSecret(), ...o });
    return { title: template.name, body, section: "flows" };
  };
  addPage("/flows/templates", async () => {
    return { title: "Start a flow", body: templatesBody(flows.listAll(), flows.listProblems()), section: "flows" };
  });
  addPage("/flows/templates/:key", async (c, owner) => {
    const template = find(c.req.param("key"));
    if (template === undefined) return unknownTemplate();
    const again = c.req.query("from");
    const typed = again === undefined ? undefined : await readEarlier(parts, owner, { template, id: again });
    return show(template, owner, { typed });
  });
  addForm("/flows/templates/:key", async (c, { owner, form }) => {
    const template = find(c.req.param("key"));
    if (template === undefined) return unknownTemplate();
    const fields = listFields(template);
    // Pressed twice, a form starts one flow.
    const startKey = (form.get("start") ?? "").slice(0, MAX_KEY);
    try {
      const { flow } = await flows.start({
        principal: { accountId: owner.accountId, apiKeyId: owner.person.id },
        templateKey: template.key,
        input: readInput(fields, form),
        triggerType: "manual",
        startKey,
      });
      return `/flows/${flow.id}?notice=started`;
    } catch (error) {
      const problem = readInputProblem(error);
      if (problem === undefined) throw error;
      return { ...(await show(template, owner, { typed: readTyped(fields, form), problem, startKey })), status: 400 };
    }
  });
}

/** What an earlier flow of the template was started with; nothing when it is gone. */
async function readEarlier(
  { flows }: ServiceParts,
  { accountId }: OwnerSession,
  { template, id }: { template: FlowTemplate; id: string },
): Promise<TypedValues | undefined> {
  try {
    const { flow } = await flows.get(accountId, id);
    return flow.templateKey === template.key ? toTyped(listFields(template), flow.input ?? {}) : undefined;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    throw error;
  }
}

function unknownTemplate(): Page {
  const body = messageBody({
    heading: "There is no such template",
    text: "It may have been removed, or the app that it works with is not there.",
    next: html`<p><a href="/flows/templates">All templates</a></p>`,
  });
  return { title: "Unknown template", body, section: "flows", status: 404 };
}

function templatesBody(templates: readonly FlowTemplate[], problems: readonly FileProblem[]): Markup {
  const row = (template: FlowTemplate) => {
    const { key, name, description } = template;
    return html`<li><div><strong><a href="/flows/templates/${key}">${name}</a></strong><span class="muted">${nameFields(description, listFields(template))}</span></div>
<a class="button quiet" href="/flows/templates/${key}">Start<span class="hidden"> ${name}</span></a></li>`;
  };
  return html`<h1>Start a flow</h1>
<p class="lead">Each stops and asks before it changes anything.</p>
<section class="card" aria-label="Templates">
${templates.length === 0 ? html`<p class="muted">There is no template for the apps of this service.</p>` : html`<ul class="rows">${templates.map(row)}</ul>`}
</section>
${problems.length === 0 ? "" : problemsCard(problems)}
<p><a href="/flows">All flows</a></p>`;
}

function problemsCard(problems: readonly FileProblem[]): Markup {
  const row = ({ file, field, problem }: FileProblem) =>
    html`<li><div><strong>${toPlainText(file)}</strong><span class="muted">${field === "" ? "The file" : html`<code>${toPlainText(field)}</code>`} ${toPlainText(problem)}.</span></div></li>`;
  return html`<section class="card" aria-labelledby="problems">
<h2 id="problems">Templates with mistakes</h2>
<p class="muted">These files cannot be started from. They are read again each time this page is opened.</p>
<ul class="rows">${problems.map(row)}</ul>
</section>`;
}

interface StartPage {
  readonly template: FlowTemplate;
  readonly connections: readonly Connection[];
  readonly csrfToken: string;
  /** The same when the form is shown again. */
  readonly startKey: string;
  readonly typed?: TypedValues | undefined;
  readonly problem?: FieldProblem | undefined;
}

function startBody({ template, csrfToken, startKey, typed, problem, connections }: StartPage): Markup {
  const fields = listFields(template);
  const named = problem && { ...problem, problem: nameFields(problem.problem, fields) };
  return html`<h1>${template.name}</h1>
<p class="lead">${nameFields(template.description, fields)}</p>
${named === undefined ? "" : problemSummary(named, fields)}
<section class="card" aria-label="Inputs">
<form method="post" action="/flows/templates/${template.key}" novalidate>
${csrfField(csrfToken)}<input type="hidden" name="start" value="${startKey}">
${inputFields(fields, { typed, problem: named, connections })}
<div class="actions"><button class="primary">Start</button><a href="/flows/templates">Cancel</a></div>
</form>
</section>`;
}

function problemSummary({ field, problem }: FieldProblem, fields: readonly InputField[]): Markup {
  const label = fields.find(({ name }) => name === field)?.label ?? field;
  return html`<div class="notice bad" role="alert"><p><strong>The flow was not started.</strong></p><p><a href="#in-${field}">${label}</a>: ${problem}.</p></div>`;
}
