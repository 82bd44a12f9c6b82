import type { Hono } from "hono";
import { createId } from "../../../shared/base/ids.ts";
import { listFields } from "../../flows/template-input.ts";
import { ownerPages } from "../owner-browser.ts";
import { findNotice, type RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { type FieldProblem, readTyped } from "./flow-inputs.ts";
import type { Page } from "./page.ts";
import { readTriggerForm, toProblem } from "./read-trigger-form.ts";
import { type Choice, choiceBody, formBody, readChoice } from "./trigger-form.ts";
import { madeBody, triggerBody, triggersBody } from "./trigger-pages.ts";

const NOTICES: Readonly<Record<string, string>> = {
  made: "The trigger is made. What comes from now on counts.",
  ran: "It runs now.",
  paused: "Paused. Nothing happens until you resume it.",
  resumed: "Resumed. What came meanwhile does not count.",
  "still-paused": "It stays paused, because its app could not be asked. Resume it when that is mended.",
  deleted: "The trigger is deleted.",
};

const hookUrl = ({ baseUrl }: ServiceParts, id: string) => `${baseUrl}/api/hooks/${id}`;

/** The triggers of the owner: a list, a form for a new one, and the page of each. */
export function addTriggerPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { triggers } = parts;
  const { addPage } = ownerPages(app, parts);
  addPage("/triggers", async (c) => {
    const [list, summaries] = [await triggers.list(), await triggers.summariseEvents()];
    const notice = findNotice(NOTICES, c.req.query("notice"));
    const body = triggersBody({ triggers: list, summaries, now: parts.now(), notice });
    return { title: "Triggers", body, section: "flows" };
  });
  addNewTrigger(app, parts);
  addPage("/triggers/:id", async (c, { csrfToken }) => {
    const trigger = await triggers.read(c.req.param("id"));
    const { id } = trigger.row;
    const { act } = trigger;
    const template = parts.flows.listAll().find(({ key }) => act.does === "flow" && key === act.template);
    const body = triggerBody({
      trigger,
      template,
      connections: await parts.connections.list(),
      events: await triggers.listEvents(id),
      summary: (await triggers.summariseEvents()).get(id),
      hasSecrets: triggers.hasSecrets(trigger),
      hookUrl: hookUrl(parts, id),
      press: createId("press"),
      csrfToken,
      now: parts.now(),
      notice: findNotice(NOTICES, c.req.query("notice")),
    });
    return { title: trigger.name, body, section: "flows" };
  });
  addMoves(app, parts);
}

function addNewTrigger(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts);
  const { flows, connections, keptSecrets } = parts;
  const placeOf = (csrfToken: string) => ({ browser: csrfToken, form: "/triggers/new" });
  const show = async (
    choice: Choice,
    csrfToken: string,
    o: { form?: URLSearchParams; problems?: readonly FieldProblem[] },
  ) => {
    const token = o.form?.get("token") ?? "";
    const keptToken = token === "" ? undefined : await keptSecrets.keep(placeOf(csrfToken), { token });
    const fields = choice.template === undefined ? [] : listFields(choice.template);
    const slugs = parts.catalog.integrations.flatMap(({ slug, watch }) => (watch?.kind === choice.kind ? [slug] : []));
    const all = await connections.list();
    const body = formBody({
      ...choice,
      typed: Object.fromEntries(o.form ?? []),
      inputs: o.form && readTyped(fields, o.form),
      problems: o.problems ?? [],
      keptToken,
      connections: all,
      accounts: all.filter(({ integration }) => slugs.includes(integration)),
      csrfToken,
    });
    return { title: "New trigger", body, section: "flows" } as const;
  };
  const showChoice = (): Page => ({ title: "New trigger", body: choiceBody(flows.listAll()), section: "flows" });
  addPage("/triggers/new", async (c, { csrfToken }) => {
    const choice = readChoice(c.req.query(), flows.listAll());
    return choice === undefined ? showChoice() : show(choice, csrfToken, {});
  });
  addForm("/triggers/new", async (_c, { owner, form, audit }) => {
    const choice = readChoice(Object.fromEntries(form), flows.listAll());
    if (choice === undefined) return { ...showChoice(), status: 400 };
    const { csrfToken } = owner;
    const { token = "" } = await keptSecrets.take(form.get("kept") ?? "", placeOf(csrfToken));
    if (!form.get("token")) form.set("token", token);
    const refuse = async (problems: readonly FieldProblem[]): Promise<Page> => {
      return { ...(await show(choice, csrfToken, { form, problems })), status: 400 };
    };
    const content = readTriggerForm(choice, form);
    if (!("name" in content)) return refuse(content);
    try {
      const made = await parts.triggers.make({ content, token: form.get("token") ?? "", by: owner.person.name });
      const { id } = made.trigger.row;
      audit({ event: "trigger.made", did: "made the trigger", name: content.name, id });
      const { hook, out } = made.secrets;
      if (hook === undefined && out === undefined) return `/triggers/${id}?notice=made`;
      return { title: "The trigger is made", body: madeBody({ ...made, hookUrl: hookUrl(parts, id) }) };
    } catch (error) {
      const problem = toProblem(error, choice);
      if (problem === undefined) throw error;
      return refuse([problem]);
    }
  });
}

function addMoves(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { triggers } = parts;
  const { addForm } = ownerPages(app, parts);
  const addMove = (verb: string, done: string, move: (id: string, form: URLSearchParams) => Promise<unknown>) =>
    addForm(`/triggers/:id/${verb}`, async (c, { form, audit }) => {
      const { id, name } = (await triggers.read(c.req.param("id") ?? "")).row;
      if ((await move(id, form)) === false) return `/triggers/${id}?notice=still-paused`;
      audit({ event: `trigger.${done}`, did: `${done} the trigger`, name, id });
      return done === "deleted" ? `/triggers?notice=${done}` : `/triggers/${id}?notice=${done}`;
    });
  addMove("run", "ran", (id, form) => triggers.runNow(id, form.get("press") ?? ""));
  addMove("pause", "paused", triggers.pause);
  addMove("resume", "resumed", triggers.resume);
  addMove("delete", "deleted", triggers.remove);
}
