/** What is to change in a JSON object: a member's new value as JSON text, or undefined to drop it. */
export type Changes = ReadonlyMap<string, string | undefined>;

interface Member {
  readonly name: string;
  /** Of the name's quote. */
  readonly start: number;
  readonly valueStart: number;
  /** Behind the value. */
  readonly end: number;
}

/**
 * The text of a JSON object with some of its own members replaced, dropped or added at the end;
 * every other byte stays as it is. The text must be valid JSON.
 */
export function spliceMembers(text: string, changes: Changes): string {
  const open = text.indexOf('{');
  const kept: string[] = [];
  const seen = new Set<string>();
  let isChanged = false;
  for (const member of membersOf(text, open)) {
    seen.add(member.name);
    if (!changes.has(member.name)) {
      kept.push(text.slice(member.start, member.end));
      continue;
    }
    isChanged = true;
    const value = changes.get(member.name);
    if (value !== undefined) kept.push(text.slice(member.start, member.valueStart) + value);
  }
  for (const [name, value] of changes) {
    if (seen.has(name) || value === undefined) continue;
    isChanged = true;
    kept.push(`${JSON.stringify(name)}:${value}`);
  }
  return isChanged ? `{${kept.join(',')}}` : text;
}

/**
 * The text of a JSON object with a member more at its end, whose value comes as JSON text. The text
 * must be valid, and have other members but none of that name.
 */
export function appendMember(text: string, name: string, value: string): string {
  const close = text.lastIndexOf('}');
  return `${text.slice(0, close)},${JSON.stringify(name)}:${value}${text.slice(close)}`;
}

function* membersOf(text: string, open: number): Generator<Member> {
  let at = skipSpace(text, open + 1);
  while (text[at] === '"') {
    const nameEnd = endOfString(text, at);
    const valueStart = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = endOfValue(text, valueStart);
    yield { name: JSON.parse(text.slice(at, nameEnd)) as string, start: at, valueStart, end };
    at = skipSpace(text, skipSpace(text, end) + 1);
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) <= 0x20) at += 1;
  return at;
}

/** Behind the quote that closes the string which opens at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === 0x5c) at += 1;
    else if (char === 0x22) return at + 1;
  }
  return at;
}

function endOfValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return endOfString(text, start);
  if (first !== '{' && first !== '[') return endOfWord(text, start);
  let depth = 0;
  let at = start;
  do {
    const char = text[at];
    if (char === '"') {
      at = endOfString(text, at);
      continue;
    }
    if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
    at += 1;
  } while (depth > 0 && at < text.length);
  return at;
}

function endOfWord(text: string, start: number): number {
  let at = start;
  while (at < text.length && !/[\s,}\]]/.test(text[at] ?? '')) at += 1;
  return at;
}
