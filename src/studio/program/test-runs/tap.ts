import type { TestCase } from './test-case.ts';

const timing = /\s+# time=\S+/;
const result = /^(not )?ok\b(?:\s+\d+)?\s*(?:-\s+)?(.*)$/;

interface Level {
  /** Results seen since the one that they belong to. */
  results: number;
  failures: number;
  /** What holds the results that are deeper, as far as it was named before them. */
  subtest?: string;
  /** The result that holds them, where it stands before them and a brace after them. */
  open?: Result;
}

interface Result {
  readonly isFailed: boolean;
  readonly rest: string;
  readonly message: string;
}

/**
 * The cases of TAP 13 and 14: those that hold no others, under the names of those that hold them.
 * Undefined where the text is no TAP.
 */
export function readTap(text: string): readonly TestCase[] | undefined {
  if (!/^TAP version \d+/m.test(text) && !/^1\.\.\d+/m.test(text)) return undefined;
  const levels: Level[] = [];
  const lines = text.split(/\r?\n/);
  const cases: TestCase[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const words = line.trim();
    const depth = Math.floor((line.length - line.trimStart().length) / 4);
    const block = result.test(words) ? diagnosticsAfter(lines, index) : [];
    index += block.length;
    const found = readLine(levels, depth, { words, message: messageIn(block) });
    if (found) cases.push(found);
  }
  return cases;
}

function readLine(
  levels: Level[],
  depth: number,
  { words, message }: { readonly words: string; readonly message: string },
): TestCase | undefined {
  if (words.startsWith('# Subtest: ')) levelAt(levels, depth).subtest = words.slice(11);
  if (words.startsWith('Bail out!')) return failedCase('Bail out!', words.slice(9).trim());
  const { open } = levelAt(levels, depth);
  if (words === '}' && open) return readResult(levels, depth, open);
  const [found, not, rest = ''] = result.exec(words) ?? [];
  if (found === undefined) return undefined;
  const isFailed = not !== undefined;
  if (!rest.endsWith(' {')) return readResult(levels, depth, { isFailed, rest, message });
  const plain = rest.slice(0, -2).replace(timing, '');
  Object.assign(levelAt(levels, depth), {
    subtest: plain,
    open: { isFailed, rest: plain, message },
  });
  return undefined;
}

function levelAt(levels: Level[], depth: number): Level {
  while (levels.length <= depth) levels.push({ results: 0, failures: 0 });
  return levels[depth] ?? { results: 0, failures: 0 };
}

/** Undefined for one that only sums up others. */
function readResult(levels: Level[], depth: number, one: Result): TestCase | undefined {
  const own = levelAt(levels, depth);
  const below = levels[depth + 1] ?? { results: 0, failures: 0 };
  levels.length = depth + 1;
  const rest = one.rest.replace(timing, '');
  const [, name = '', directive] = /^(.*?)(?:\s+#\s*(skip|todo)\b.*)?$/i.exec(rest) ?? [];
  const isFailed = one.isFailed && directive === undefined;
  own.results += 1;
  own.failures += isFailed ? 1 : 0;
  delete own.subtest;
  delete own.open;
  // A suite may fail by itself, though all that it holds has passed.
  if (below.results > 0 && (!isFailed || below.failures > 0)) return undefined;
  const parents = levels.slice(0, depth).flatMap(({ subtest }) => subtest ?? []);
  const full = [...parents, name || 'unnamed'].join(' > ').replaceAll(/\\([#\\])/g, '$1');
  if (directive !== undefined) return { name: full, status: 'skipped' };
  return isFailed ? failedCase(full, one.message) : { name: full, status: 'passed' };
}

function failedCase(name: string, message: string): TestCase {
  return { name, status: 'failed', ...(message === '' ? {} : { message }) };
}

/** The YAML block behind a result, with both of its marks; empty where there is none. */
function diagnosticsAfter(lines: readonly string[], index: number): readonly string[] {
  if (lines[index + 1]?.trim() !== '---') return [];
  const end = lines.findIndex((line, at) => at > index + 1 && line.trim() === '...');
  return end === -1 ? [] : lines.slice(index + 1, end + 1);
}

/** What its `error` or `message` says, on one line or on several. */
function messageIn(block: readonly string[]): string {
  const at = block.findIndex((line) => /^\s*(error|message):\s*\S/.test(line));
  const line = block[at];
  if (line === undefined) return '';
  const [, value = ''] = /:\s*(.*)$/.exec(line.trim()) ?? [];
  const rest = block.slice(at + 1);
  if (/^[|>]/.test(value)) return indentedIn(rest, line.length - line.trimStart().length);
  const [quote = ''] = /^['"]/.exec(value) ?? [];
  if (quote === '') return value;
  const last =
    value.length > 1 && value.endsWith(quote) ? -1 : rest.findIndex((one) => one.endsWith(quote));
  return [value, ...rest.slice(0, last + 1)].join('\n').slice(1, -1);
}

/** The lines that stand deeper. */
function indentedIn(lines: readonly string[], indent: number): string {
  const isInside = (text: string) =>
    text.trim() === '' || text.length - text.trimStart().length > indent;
  const end = lines.findIndex((text) => !isInside(text));
  const inside = lines.slice(0, end === -1 ? lines.length : end);
  return inside
    .map((text) => text.trim())
    .join('\n')
    .trim();
}
