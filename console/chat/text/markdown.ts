import { readInline, type Inline } from './inline.ts';

/** A part of a text that stands by itself. */
export type Block =
  | { readonly type: 'paragraph'; readonly children: readonly Inline[] }
  | { readonly type: 'heading'; readonly level: number; readonly children: readonly Inline[] }
  | { readonly type: 'code'; readonly language: string; readonly text: string }
  | { readonly type: 'quote'; readonly blocks: readonly Block[] }
  | List
  | Table
  | { readonly type: 'rule' };

export interface List {
  readonly type: 'list';
  /** The first number; absent where the items have bullets. */
  readonly start?: number;
  readonly items: readonly (readonly Block[])[];
}

export interface Table {
  readonly type: 'table';
  readonly head: readonly (readonly Inline[])[];
  readonly rows: readonly (readonly (readonly Inline[])[])[];
}

interface Found {
  readonly block: Block;
  /** The line that comes next. */
  readonly next: number;
}

type Lines = readonly string[];
type Reader = (lines: Lines, at: number, depth: number) => Found | undefined;

/** Deeper lists and quotes are text. */
const depthMax = 8;
const fence = /^ {0,3}(`{3,}|~{3,})\s*([^`\s]*)[^`]*$/;
const heading = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/;
const rule = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const quote = /^ {0,3}> ?/;
const bullet = /^( {0,3})([-*+]|(\d{1,9})[.)])(\s+|$)/;
const tableRule = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

/** Reads a text as Markdown, also one whose end is not there yet. Whatever is no Markdown is a paragraph. */
export function readMarkdown(text: string): readonly Block[] {
  return readBlocks(text.split(/\r?\n/), 0);
}

const readers: readonly Reader[] = [
  readFence,
  readHeading,
  readRule,
  readQuote,
  readList,
  readTable,
];

function readBlocks(lines: Lines, depth: number): readonly Block[] {
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    if (isBlank(lines[at])) {
      at += 1;
      continue;
    }
    const { block, next } = readBlock(lines, at, depth);
    blocks.push(block);
    at = next;
  }
  return blocks;
}

function readBlock(lines: Lines, at: number, depth: number): Found {
  for (const read of readers) {
    const found = read(lines, at, depth);
    if (found) return found;
  }
  return readParagraph(lines, at);
}

function readFence(lines: Lines, at: number): Found | undefined {
  const [opening = '', mark = '', language = ''] = fence.exec(lines[at] ?? '') ?? [];
  if (mark === '') return undefined;
  const indent = opening.search(/\S/);
  const closing = new RegExp(`^ {0,3}${mark.charAt(0)}{${mark.length},}\\s*$`);
  const found = lines.findIndex((line, index) => index > at && closing.test(line));
  const end = found === -1 ? lines.length : found;
  const text = lines
    .slice(at + 1, end)
    .map((line) => withoutIndent(line, indent))
    .join('\n');
  return { block: { type: 'code', language, text }, next: end + 1 };
}

function readHeading(lines: Lines, at: number): Found | undefined {
  const [, marks, text = ''] = heading.exec(lines[at] ?? '') ?? [];
  if (marks === undefined) return undefined;
  return {
    block: { type: 'heading', level: marks.length, children: readInline(text) },
    next: at + 1,
  };
}

function readRule(lines: Lines, at: number): Found | undefined {
  return rule.test(lines[at] ?? '') ? { block: { type: 'rule' }, next: at + 1 } : undefined;
}

function readQuote(lines: Lines, at: number, depth: number): Found | undefined {
  const end = endOf(lines, at, (line) => quote.test(line));
  if (end === at || depth >= depthMax) return undefined;
  const inner = lines.slice(at, end).map((line) => line.replace(quote, ''));
  return { block: { type: 'quote', blocks: readBlocks(inner, depth + 1) }, next: end };
}

function readList(lines: Lines, at: number, depth: number): Found | undefined {
  const first = bullet.exec(lines[at] ?? '');
  if (!first || depth >= depthMax) return undefined;
  const items: (readonly Block[])[] = [];
  let next = at;
  for (;;) {
    const mark = bullet.exec(lines[next] ?? '');
    if (!mark || kindOf(mark) !== kindOf(first) || rule.test(lines[next] ?? '')) break;
    const item = readItem(lines, next, mark);
    items.push(readBlocks(item.lines, depth + 1));
    next = item.next;
  }
  if (items.length === 0) return undefined;
  const start = first[3] === undefined ? {} : { start: Number(first[3]) };
  return { block: { type: 'list', ...start, items }, next };
}

/** Numbers with a dot, with a bracket, or one of the bullets. */
function kindOf(mark: RegExpExecArray): string {
  return mark[2]?.at(-1) ?? '';
}

/** An item's own lines without their indent: those below its text, and what goes on with its last line. */
function readItem(
  lines: Lines,
  at: number,
  mark: RegExpExecArray,
): { readonly lines: Lines; readonly next: number } {
  const width = mark[0].length - Math.max(0, (mark[4]?.length ?? 0) - 4);
  const own = [(lines[at] ?? '').slice(width)];
  let next = at + 1;
  while (next < lines.length) {
    const line = lines[next] ?? '';
    const isInside = isBlank(line) || indentOf(line) >= 2;
    const goesOn = !isBlank(lines[next - 1]) && !beginsBlock(line);
    if (!isInside && !goesOn) break;
    own.push(withoutIndent(line, width));
    next += 1;
  }
  return { lines: own, next };
}

function readTable(lines: Lines, at: number): Found | undefined {
  const head = lines[at] ?? '';
  const isTable = head.includes('|') && tableRule.test(lines[at + 1] ?? '');
  if (!isTable || cellsOf(head).length !== cellsOf(lines[at + 1] ?? '').length) return undefined;
  const end = endOf(lines, at + 2, (line) => line.includes('|'));
  const width = cellsOf(head).length;
  const toCells = (line: string) => {
    const cells = cellsOf(line);
    return Array.from({ length: width }, (_, column) => readInline(cells[column] ?? ''));
  };
  const rows = lines.slice(at + 2, end).map(toCells);
  return { block: { type: 'table', head: toCells(head), rows }, next: end };
}

function cellsOf(line: string): readonly string[] {
  const plain = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return plain.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function readParagraph(lines: Lines, at: number): Found {
  const end = endOf(lines, at + 1, (line) => !isBlank(line) && !beginsBlock(line));
  const text = lines
    .slice(at, end)
    .map((line) => line.trim())
    .join('\n');
  return { block: { type: 'paragraph', children: readInline(text) }, next: end };
}

function beginsBlock(line: string): boolean {
  return [fence, heading, rule, quote, bullet].some((pattern) => pattern.test(line));
}

function endOf(lines: Lines, from: number, belongs: (line: string) => boolean): number {
  let end = from;
  while (end < lines.length && belongs(lines[end] ?? '')) end += 1;
  return end;
}

function isBlank(line: string | undefined): boolean {
  return line === undefined || line.trim() === '';
}

const tabWidth = 4;

/** In columns. */
function indentOf(line: string): number {
  const [space = ''] = /^[ \t]*/.exec(line) ?? [];
  return Array.from(space).reduce((sum, sign) => sum + (sign === '\t' ? tabWidth : 1), 0);
}

/** At most so many columns less. */
function withoutIndent(line: string, columns: number): string {
  let at = 0;
  for (let column = 0; column < columns && /[ \t]/.test(line.charAt(at)); at++) {
    column += line[at] === '\t' ? tabWidth : 1;
  }
  return line.slice(at);
}
