/** A text or number somewhere in JSON, with the name of the nearest member around it. */
export interface Leaf {
  readonly value: string | number;
  readonly name: string;
}

interface Frame {
  readonly node: object;
  readonly keys: readonly string[] | undefined;
  readonly name: string;
  at: number;
}

interface Member {
  readonly value: unknown;
  readonly name: string;
  /** True for a member of an object, false for an item of a list. */
  readonly own: boolean;
}

/** Yields texts and numbers of JSON in their order, with names of members that are no plain words; as deep as it goes. */
export function* walkContent(content: unknown, mostNodes: number): Generator<Leaf> {
  const stack: Frame[] = [];
  let nodes = 0;
  let value = content;
  let name = "";
  for (;;) {
    if (typeof value === "string" || typeof value === "number" || typeof value === "bigint") {
      yield { value: typeof value === "bigint" ? String(value) : value, name };
    } else if (typeof value === "object" && value !== null) {
      stack.push({
        node: value,
        keys: Array.isArray(value) ? undefined : someKeys(value, mostNodes - nodes),
        name,
        at: 0,
      });
    }
    let next = takeNext(stack.at(-1));
    while (!next && stack.length > 0) {
      stack.pop();
      next = takeNext(stack.at(-1));
    }
    if (!next || ++nodes > mostNodes) return;
    if (next.own && !/^[A-Za-z][\w-]{0,40}$/.test(next.name)) yield { value: next.name, name: "" };
    ({ value, name } = next);
  }
}

function someKeys(node: object, most: number): string[] {
  const keys: string[] = [];
  for (const key in node) {
    if (keys.length >= most) break;
    keys.push(key);
  }
  return keys;
}

function takeNext(frame: Frame | undefined): Member | undefined {
  if (!frame) return undefined;
  const { node, keys, at } = frame;
  frame.at += 1;
  if (!keys) {
    const items: readonly unknown[] = Array.isArray(node) ? node : [];
    return at < items.length ? { value: items[at], name: frame.name, own: false } : undefined;
  }
  const key = keys[at];
  return key === undefined ? undefined : { value: Reflect.get(node, key), name: key, own: true };
}
