import type { HostMessage, HostMessageContext, HostToolCallContext } from "./host/host-tool.ts";

/** Messages that people wrote to the host, in memory. */
export interface HeardMessages {
  /** Keeps a message that has come in. */
  add(message: HostMessage, context: HostMessageContext): void;
  /** What the owner who started a call wrote in its conversation, the latest last; undefined for anybody else's call. */
  find(context: Pick<HostToolCallContext, "sessionKey" | "requester">): readonly string[] | undefined;
}

/** The latest are kept. */
const MOST_MESSAGES = 300;
const LONGEST = 5_000;

interface Heard {
  readonly session: string;
  readonly channel: string;
  readonly sender: string;
  readonly text: string;
}

/** Starts without any. */
export function createHeardMessages(): HeardMessages {
  const heard: Heard[] = [];
  return {
    add({ content, senderId = "", sessionKey }, { channelId, sessionKey: session = sessionKey }) {
      if (session === undefined || typeof content !== "string" || content.trim() === "") return;
      heard.push({ session, channel: channelId ?? "", sender: senderId, text: content.slice(0, LONGEST) });
      if (heard.length > MOST_MESSAGES) heard.shift();
    },
    find({ sessionKey, requester }) {
      // Others may write to an agent, too; only the host knows who owns it.
      if (sessionKey === undefined || requester?.senderIsOwner !== true) return undefined;
      const { channel = "", senderId = "" } = requester;
      const isTheirs = (one: Heard) => one.channel === channel && one.sender === senderId;
      return heard.filter((one) => one.session === sessionKey && isTheirs(one)).map(({ text }) => text);
    },
  };
}
