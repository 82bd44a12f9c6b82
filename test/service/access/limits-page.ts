import type { Browser } from "../http/pages/browser.ts";

/** Fields of a form, in order; checkboxes repeat their name. */
type Fields = [string, string][];

/** The fields of the limits as a browser sends them where nothing was changed. */
export function fieldsOf(page: string): Fields {
  const inputs = [
    ...page.matchAll(/<input type="(checkbox|radio|hidden)"[^>]*name="([^"]+)" value="([^"]*)"( checked)?>/g),
  ];
  const ticked = inputs.filter(([, type, , , checked]) => type === "hidden" || checked !== undefined);
  const tools = /<textarea[^>]*>([^<]*)</.exec(page)?.[1] ?? "";
  const ends = /<option value="([^"]*)" selected>/.exec(page)?.[1] ?? "never";
  return [
    ...ticked.map(([, , name = "", value = ""]): [string, string] => [name, value]),
    ["tools", tools],
    ["ends", ends],
  ];
}

/** Fields but those of this name, or with this name and value. */
export function without(fields: Fields, name: string, value?: string): Fields {
  return fields.filter((field) => field[0] !== name || (value !== undefined && field[1] !== value));
}

/** Opens the page of the limits of the device "Laptop", and saves it with other fields. */
export async function changeLimits(browser: Browser, service: { url: string }, edit: (fields: Fields) => Fields) {
  const devices = await browser.open(`${service.url}/devices`);
  const links = [
    ...devices.text.matchAll(/href="(\/devices\/[^"]+\/limits)">Change<span class="hidden"> what Laptop/g),
  ];
  const url = `${service.url}${links[0]?.[1]}`;
  const page = await browser.open(url);
  return browser.submit(url, edit(fieldsOf(page.text)));
}
