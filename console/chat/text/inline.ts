/** A piece of a line: only what is named here can come out of a text, so nothing in it runs. */
export type Inline =
  | { readonly type: 'text' | 'code'; readonly text: string }
  | { readonly type: 'strong' | 'emphasis' | 'strike'; readonly children: readonly Inline[] }
  | { readonly type: 'link'; readonly href: string; readonly children: readonly Inline[] }
  | { readonly type: 'break' };

interface Found {
  readonly node: Inline;
  /** Where the text goes on. */
  readonly end: number;
}

/** The text, and what is known not to be in the rest of it, so that nothing is looked for twice. */
interface Scan {
  readonly text: string;
  readonly depth: number;
  readonly missing: Set<string>;
}

type Reader = (scan: Scan, at: number) => Found | undefined;

/** Deeper marks are shown as they are written. */
const depthMax = 8;
const special = /[\\`*_~[!<h\n]/g;

/** Reads bold, italics, code and links; whatever makes no sense is text. Never throws. */
export function readInline(text: string, depth = 0): readonly Inline[] {
  const scan: Scan = { text, depth, missing: new Set() };
  const nodes: Inline[] = [];
  let textStart = 0;
  let at = nextSpecial(text, 0);
  while (at < text.length) {
    const found = readers[text.charAt(at)]?.(scan, at);
    if (!found) {
      at = nextSpecial(text, at + 1);
      continue;
    }
    addText(nodes, text.slice(textStart, at));
    nodes.push(found.node);
    textStart = found.end;
    at = nextSpecial(text, found.end);
  }
  addText(nodes, text.slice(textStart));
  return nodes;
}

const readers: Readonly<Record<string, Reader>> = {
  '\\': readEscape,
  '`': readCode,
  '*': (scan, at) => readMarked(scan, at, '**') ?? readMarked(scan, at, '*'),
  _: (scan, at) => (isWordBefore(scan, at) ? undefined : readUnderlined(scan, at)),
  '~': (scan, at) => readMarked(scan, at, '~~'),
  '[': readLink,
  '!': (scan, at) => (scan.text[at + 1] === '[' ? readLink(scan, at + 1) : undefined),
  '<': readAngleLink,
  h: readBareLink,
  '\n': (_scan, at) => ({ node: { type: 'break' }, end: at + 1 }),
};

function nextSpecial(text: string, from: number): number {
  special.lastIndex = from;
  return special.exec(text)?.index ?? text.length;
}

function addText(nodes: Inline[], text: string): void {
  if (text !== '') nodes.push({ type: 'text', text });
}

function readEscape({ text }: Scan, at: number): Found | undefined {
  const escaped = text.charAt(at + 1);
  if (!/[!-/:-@[-`{-~]/.test(escaped)) return undefined;
  return { node: { type: 'text', text: escaped }, end: at + 2 };
}

function readCode({ text, missing }: Scan, at: number): Found | undefined {
  const mark = '`'.repeat(runLength(text, at));
  const start = at + mark.length;
  if (missing.has(mark)) return undefined;
  for (let end = text.indexOf(mark, start); end !== -1; end = text.indexOf(mark, end)) {
    const length = runLength(text, end);
    if (length === mark.length) {
      const inner = text.slice(start, end).replaceAll('\n', ' ');
      const isPadded = /^ .* $/.test(inner) && inner.trim() !== '';
      const code = isPadded ? inner.slice(1, -1) : inner;
      return { node: { type: 'code', text: code }, end: end + length };
    }
    end += length;
  }
  missing.add(mark);
  return { node: { type: 'text', text: mark }, end: start };
}

const typeOfMark = {
  '**': 'strong',
  __: 'strong',
  '*': 'emphasis',
  _: 'emphasis',
  '~~': 'strike',
} as const;
type Mark = keyof typeof typeOfMark;

function readUnderlined(scan: Scan, at: number): Found | undefined {
  return readMarked(scan, at, '__') ?? readMarked(scan, at, '_');
}

function readMarked(scan: Scan, at: number, mark: Mark): Found | undefined {
  const { text, depth, missing } = scan;
  const start = at + mark.length;
  if (depth >= depthMax || missing.has(mark) || !text.startsWith(mark, at)) return undefined;
  if (/^\s?$/.test(text.charAt(start))) return undefined;
  const end = findClosing(text, start, mark);
  if (end === -1) {
    missing.add(mark);
    return undefined;
  }
  const children = readInline(text.slice(start, end), depth + 1);
  return { node: { type: typeOfMark[mark], children }, end: end + mark.length };
}

function findClosing(text: string, from: number, mark: Mark): number {
  let at = text.indexOf(mark, from);
  while (at !== -1) {
    const run = runLength(text, at);
    const isLongEnough = mark.length === 1 ? run !== 2 : run >= mark.length;
    const isBehindText = at > from && !/[\s\\]/.test(text.charAt(at - 1));
    const isWordBehind = mark.startsWith('_') && /\w/.test(text.charAt(at + run));
    if (isLongEnough && isBehindText && !isWordBehind) return at + run - mark.length;
    at = text.indexOf(mark, at + run);
  }
  return -1;
}

const linkPattern = /\[([^[\]]*)\]\(\s*<?((?:[^\s<>()]|\([^\s<>()]*\))*)>?(?:\s+"[^"]*")?\s*\)/y;

function readLink({ text, depth }: Scan, at: number): Found | undefined {
  const found = matchAt(linkPattern, text, at);
  if (!found || depth >= depthMax) return undefined;
  const [whole, label = '', href = ''] = found;
  if (!isWebAddress(href)) return undefined;
  const children = label === '' ? [textNode(href)] : readInline(label, depthMax);
  return { node: { type: 'link', href, children }, end: at + whole.length };
}

function readAngleLink({ text }: Scan, at: number): Found | undefined {
  const found = matchAt(/<(https?:\/\/[^\s<>]+)>/y, text, at);
  if (!found) return undefined;
  const [whole, href = ''] = found;
  return { node: { type: 'link', href, children: [textNode(href)] }, end: at + whole.length };
}

function readBareLink(scan: Scan, at: number): Found | undefined {
  // A link's own label holds no links.
  if (scan.depth >= depthMax || isWordBefore(scan, at)) return undefined;
  const found = matchAt(/https?:\/\/[^\s<>"`*]+/y, scan.text, at);
  if (!found) return undefined;
  const href = withoutEnding(found[0]);
  if (!isWebAddress(href)) return undefined;
  return { node: { type: 'link', href, children: [textNode(href)] }, end: at + href.length };
}

/** What ends a sentence is no part of an address; a bracket is where it was opened in it. */
function withoutEnding(address: string): string {
  const plain = address.replace(/[.,;:!?'_~\]]+$/, '');
  const isOpened = plain.split('(').length >= plain.split(')').length;
  return plain.endsWith(')') && !isOpened ? withoutEnding(plain.slice(0, -1)) : plain;
}

function isWebAddress(href: string): boolean {
  return /^https?:\/\//i.test(href) && URL.canParse(href);
}

function textNode(text: string): Inline {
  return { type: 'text', text };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function isWordBefore({ text }: Scan, at: number): boolean {
  return at > 0 && /\w/.test(text.charAt(at - 1));
}

/** How often a character stands from here on. */
function runLength(text: string, at: number): number {
  let end = at + 1;
  while (text[end] === text[at]) end += 1;
  return end - at;
}
