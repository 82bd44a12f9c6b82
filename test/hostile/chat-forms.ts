import { parse } from "discord-markdown-parser";
import slackMarkdown from "slack-markdown";

/** A message as a chat shows it. */
export interface ShownMessage {
  /** What stands on the screen without anybody clicking. */
  readonly visible: string;
  /** Addresses that the chat makes links of, and so may fetch to show a preview. */
  readonly links: readonly string[];
}

/** Puts a card into the words of the host, in both forms it sends to chats. */
export function writeHostMessages({ title, description }: { title: string; description: string }): string[] {
  const id = "plugin:4f0a1b2c-1111-2222-3333-444455556666";
  return [
    `**Plugin approval required**\n**ID:** ${id}\n\n**Title:** ${title}\n**Description:** ${description}\n**Severity:** Warning`,
    `🛡️ Plugin approval required\nTitle: ${title}\nDescription: ${description}\nTool: mail_send_message\nID: ${id}`,
  ];
}

type DiscordNode = {
  readonly type: string;
  readonly content?: unknown;
  readonly target?: unknown;
  readonly name?: unknown;
};

/** Discord, by a published parser of its Markdown: spoilers hide, masked links show their label, bare addresses are links. */
export function showInDiscord(message: string): ShownMessage {
  const links: string[] = [];
  const read = (node: unknown): string => {
    if (typeof node === "string") return node;
    if (Array.isArray(node)) return node.map(read).join("");
    if (typeof node !== "object" || node === null) return "";
    const { type, content, target, name } = node as DiscordNode;
    if (type === "spoiler") return "";
    if (type === "twemoji" && typeof name === "string") return name;
    if (typeof target === "string") links.push(target);
    if (type === "br") return "\n";
    return read(content);
  };
  return { visible: read(parse(message, "extended")), links };
}

/** Slack, by a published renderer of its mrkdwn. The host writes `&`, `<` and `>` as Slack asks. */
export function showInSlack(message: string): ShownMessage {
  const escaped = message.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const html = slackMarkdown.toHTML(escaped);
  return {
    visible: readHtml(html),
    links: [...html.matchAll(/<(?:a|img)[^>]*(?:href|src)="([^"]*)"/g)].map(([, url = ""]) => url),
  };
}

function readHtml(html: string): string {
  return html
    .replaceAll(/<br\s*\/?>/g, "\n")
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&amp;", "&")
    .replaceAll(/&#(?:39|x27);/g, "'")
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">");
}

/**
 * Telegram, by hand from its published rules for formatted text: code is shown as it stands; elsewhere spoilers hide,
 * links show their label, signs of bold, italic and so on vanish, and addresses become links.
 */
export function showInTelegram(message: string): ShownMessage {
  const links: string[] = [];
  const parts = message.split(/(```[a-z]*\n[\s\S]*?```|`[^`\n]+`)/);
  const visible = parts.map((part, index) => {
    if (index % 2 === 1) return part.replace(/^```[a-z]*\n|^`/, "").replace(/```$|`$/, "");
    const labelled = part.replaceAll(/\[([^\]\n]*)\]\(([^)\n]*)\)/g, (_all, label: string, url: string) => {
      links.push(url);
      return label;
    });
    for (const [url] of labelled.matchAll(/https?:\/\/\S+|www\.\S+|(?<![@\w.])[\w-]+\.(?:com|org|net|example)\b/g))
      links.push(url);
    const hidden = labelled.replaceAll(/\|\|[\s\S]*?\|\|/g, "");
    return hidden.replaceAll(/\*\*|__|~~|(?<![A-Za-z0-9])[*_~](?=\S)|(?<=\S)[*_~](?![A-Za-z0-9])/g, "");
  });
  return { visible: visible.join(""), links };
}
