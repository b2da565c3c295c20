export interface ChangedText {
  readonly path: string;
  /** Undefined: the file is new. */
  readonly before: string | undefined;
  readonly after: string;
}

const contextLines = 3;
/** More differences than that are shown as one: the search remembers the square of their number. */
const editsMax = 600;

/** The change of a file as a unified diff (POSIX diff -u); empty when nothing changed. */
export function unifiedDiff({ path, before, after }: ChangedText): string {
  if (before === after) return '';
  const edits = editsOf(linesOf(before ?? ''), linesOf(after));
  const from = before === undefined ? '/dev/null' : `a/${path}`;
  return `--- ${from}\n+++ b/${path}\n${hunksOf(edits).map(writeHunk).join('')}`;
}

interface Edit {
  readonly sign: ' ' | '-' | '+';
  /** With its line break, where it has one. */
  readonly line: string;
}

interface Hunk {
  readonly oldStart: number;
  readonly newStart: number;
  readonly edits: readonly Edit[];
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

/** What is alike at both ends is set aside first; Myers’ search finds the shortest way through the rest. */
function editsOf(before: readonly string[], after: readonly string[]): Edit[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const removed = before.slice(head, before.length - tail);
  const added = after.slice(head, after.length - tail);
  return [
    ...kept(before.slice(0, head)),
    ...(searchEdits(removed, added) ?? replaced(removed, added)),
    ...kept(before.slice(before.length - tail)),
  ];
}

function kept(lines: readonly string[]): Edit[] {
  return lines.map((line) => ({ sign: ' ', line }));
}

function replaced(removed: readonly string[], added: readonly string[]): Edit[] {
  return [
    ...removed.map((line): Edit => ({ sign: '-', line })),
    ...added.map((line): Edit => ({ sign: '+', line })),
  ];
}

/** E. W. Myers, An O(ND) Difference Algorithm (1986); undefined when there are too many differences. */
function searchEdits(before: readonly string[], after: readonly string[]): Edit[] | undefined {
  const [n, m] = [before.length, after.length];
  if (n === 0 || m === 0) return replaced(before, after);
  const depthMax = Math.min(n + m, editsMax);
  const furthest = new Map<number, number>([[1, 0]]);
  const trace: ReadonlyMap<number, number>[] = [];
  for (let depth = 0; depth <= depthMax; depth += 1) {
    trace.push(new Map(furthest));
    for (let k = -depth; k <= depth; k += 2) {
      let x = isDown(furthest, k, depth) ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
      while (x < n && x - k < m && before[x] === after[x - k]) x += 1;
      furthest.set(k, x);
      if (x >= n && x - k >= m) return walkBack(trace, before, after);
    }
  }
  return undefined;
}

function at(furthest: ReadonlyMap<number, number>, k: number): number {
  return furthest.get(k) ?? -1;
}

function isDown(furthest: ReadonlyMap<number, number>, k: number, depth: number): boolean {
  return k === -depth || (k !== depth && at(furthest, k - 1) < at(furthest, k + 1));
}

function walkBack(
  trace: readonly ReadonlyMap<number, number>[],
  before: readonly string[],
  after: readonly string[],
): Edit[] {
  const edits: Edit[] = [];
  let [x, y] = [before.length, after.length];
  const keepDownTo = (fromX: number, fromY: number) => {
    for (; x > fromX && y > fromY; x -= 1, y -= 1) edits.push(edit(' ', before, x - 1));
  };
  for (const [depth, furthest] of [...trace.entries()].slice(1).toReversed()) {
    const fromK = isDown(furthest, x - y, depth) ? x - y + 1 : x - y - 1;
    const fromX = at(furthest, fromK);
    const fromY = fromX - fromK;
    keepDownTo(fromX, fromY);
    edits.push(x === fromX ? edit('+', after, fromY) : edit('-', before, fromX));
    [x, y] = [fromX, fromY];
  }
  keepDownTo(0, 0);
  return edits.toReversed();
}

function edit(sign: Edit['sign'], lines: readonly string[], index: number): Edit {
  return { sign, line: lines[index] ?? '' };
}

/** Groups changes with the lines around them; those that would touch are one. */
function hunksOf(edits: readonly Edit[]): Hunk[] {
  const hunks: Hunk[] = [];
  let [oldLine, newLine, index] = [1, 1, 0];
  const step = ({ sign }: Edit) => {
    if (sign !== '+') oldLine += 1;
    if (sign !== '-') newLine += 1;
  };
  for (const { start, end } of spansOf(edits)) {
    for (; index < start; index += 1) step(edits[index] ?? { sign: ' ', line: '' });
    const own = edits.slice(start, end);
    hunks.push({ oldStart: oldLine, newStart: newLine, edits: own });
    own.forEach(step);
    index = end;
  }
  return hunks;
}

function spansOf(edits: readonly Edit[]): { start: number; end: number }[] {
  const spans: { start: number; end: number }[] = [];
  for (const [index, { sign }] of edits.entries()) {
    if (sign === ' ') continue;
    const start = Math.max(0, index - contextLines);
    const end = Math.min(edits.length, index + contextLines + 1);
    const last = spans.at(-1);
    if (last && start <= last.end) last.end = end;
    else spans.push({ start, end });
  }
  return spans;
}

function writeHunk({ oldStart, newStart, edits }: Hunk): string {
  const oldCount = edits.filter(({ sign }) => sign !== '+').length;
  const newCount = edits.filter(({ sign }) => sign !== '-').length;
  const lines = edits.map(({ sign, line }) => {
    return line.endsWith('\n')
      ? `${sign}${line}`
      : `${sign}${line}\n\\ No newline at end of file\n`;
  });
  return `@@ -${range(oldStart, oldCount)} +${range(newStart, newCount)} @@\n${lines.join('')}`;
}

function range(start: number, count: number): string {
  if (count === 1) return String(start);
  // Of no lines at all, the number of the line before is named.
  return `${count === 0 ? start - 1 : start},${count}`;
}
