import type { McpResource, McpResourceTemplate } from "../../src/service/mcp/mcp-features.ts";

/** One red pixel. */
export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** A WAV file without samples. */
export const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/** Resources the suite reads by address. */
export const fixtureResources: McpResource[] = [
  {
    uri: "test://static-text",
    name: "static-text",
    description: "A text.",
    mimeType: "text/plain",
    read: () => ({ text: "This is the content of the static text resource." }),
  },
  {
    uri: "test://static-binary",
    name: "static-binary",
    description: "An image.",
    mimeType: "image/png",
    read: () => ({ blob: PNG }),
  },
  {
    uri: "test://watched-resource",
    name: "watched-resource",
    description: "A resource that is subscribed to.",
    mimeType: "text/plain",
    read: () => ({ text: "Nothing new." }),
  },
];

/** Templates the suite reads by address. */
export const fixtureTemplates: McpResourceTemplate[] = [
  {
    uriTemplate: "test://template/{id}/data",
    name: "template-data",
    description: "Data by id.",
    mimeType: "application/json",
    read(uri) {
      const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
      if (id === undefined) return undefined;
      return { text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) };
    },
  },
];
