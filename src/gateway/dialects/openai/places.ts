/** A name that leads into the body: `messages[2].prefix`, `tools[0]`, `stream_options.x`. */
export function isPlace(name: string): boolean {
  return /[.[]/.test(name);
}

type Node = Record<string, unknown>;

/**
 * Puts a value where its name leads: a member is set, an element of a list goes in at its number, so
 * places of one list must come in ascending order. A text where a list is needed becomes its first
 * text part.
 */
export function putAt(body: Node, place: string, value: unknown): void {
  const steps = place.split(/\]?[.[]|\]$/).filter((step) => step !== '');
  const last = steps.pop();
  if (last === undefined) return;
  let node: Node | unknown[] = body;
  for (const [at, step] of steps.entries()) {
    node = enter(node, step, isNumber(steps[at + 1] ?? last));
  }
  if (Array.isArray(node)) node.splice(Number(last), 0, value);
  else node[last] = value;
}

function enter(node: Node | unknown[], step: string, isListNeeded: boolean): Node | unknown[] {
  // Both are read by a name: a list's is its number.
  const members = node as Node;
  const known = members[step];
  const next = isListNeeded ? asList(known) : known;
  if (typeof next === 'object' && next !== null) {
    members[step] = next;
    return next as Node | unknown[];
  }
  const fresh: Node = {};
  members[step] = fresh;
  return fresh;
}

function asList(value: unknown): unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  return typeof value === 'string' && value !== '' ? [{ type: 'text', text: value }] : [];
}

function isNumber(step: string): boolean {
  return /^\d+$/.test(step);
}
