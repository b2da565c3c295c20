/** A line, and on which side of a comparison it stands. */
export interface DiffLine {
  readonly text: string;
  readonly side: 'both' | 'left' | 'right';
}

/** A line of each side that stand beside each other; undefined where a side has none. */
export interface DiffRow {
  readonly left?: string;
  readonly right?: string;
  readonly isSame: boolean;
}

/** A comparison side by side: what was changed beside what it became. */
export function pairLines(lines: readonly DiffLine[]): readonly DiffRow[] {
  const rows: DiffRow[] = [];
  let [left, right]: [string[], string[]] = [[], []];
  const flush = () => {
    const length = Math.max(left.length, right.length);
    for (let at = 0; at < length; at++) {
      rows.push({ ...sideOf('left', left[at]), ...sideOf('right', right[at]), isSame: false });
    }
    [left, right] = [[], []];
  };
  for (const { text, side } of lines) {
    if (side === 'left') left.push(text);
    else if (side === 'right') right.push(text);
    else {
      flush();
      rows.push({ left: text, right: text, isSame: true });
    }
  }
  flush();
  return rows;
}

function sideOf<K extends 'left' | 'right'>(side: K, text: string | undefined) {
  return (text === undefined ? {} : { [side]: text }) as { [P in K]?: string };
}

/** Above so many pairs of lines the middle counts as changed as a whole: comparing all would take too long. */
const pairsMax = 4_000_000;

/** Two texts line by line, by their longest common sequence of lines. */
export function diffLines(left: string, right: string): readonly DiffLine[] {
  const a = left.split('\n');
  const b = right.split('\n');
  const head = commonLength(a, b);
  const tail = commonLength(a.slice(head).toReversed(), b.slice(head).toReversed());
  return [
    ...a.slice(0, head).map(onBoth),
    ...diffMiddle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(onBoth),
  ];
}

function onBoth(text: string): DiffLine {
  return { text, side: 'both' };
}

function onLeft(text: string): DiffLine {
  return { text, side: 'left' };
}

function onRight(text: string): DiffLine {
  return { text, side: 'right' };
}

function commonLength(a: readonly string[], b: readonly string[]): number {
  const end = Math.min(a.length, b.length);
  let length = 0;
  while (length < end && a[length] === b[length]) length++;
  return length;
}

function diffMiddle(a: readonly string[], b: readonly string[]): readonly DiffLine[] {
  if (a.length * b.length > pairsMax) return [...a.map(onLeft), ...b.map(onRight)];
  const lines: DiffLine[] = [];
  const lengths = commonLengths(a, b);
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push(onBoth(a[i] ?? ''));
      i++;
      j++;
    } else if (lengthAt(lengths, i + 1, j) >= lengthAt(lengths, i, j + 1)) {
      lines.push(onLeft(a[i++] ?? ''));
    } else {
      lines.push(onRight(b[j++] ?? ''));
    }
  }
  return [...lines, ...a.slice(i).map(onLeft), ...b.slice(j).map(onRight)];
}

/** By the positions in both, the longest common sequence of what follows. */
function commonLengths(a: readonly string[], b: readonly string[]): readonly Uint32Array[] {
  const rows = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    const row = rows[i] ?? new Uint32Array();
    for (let j = b.length - 1; j >= 0; j--) {
      row[j] =
        a[i] === b[j]
          ? lengthAt(rows, i + 1, j + 1) + 1
          : Math.max(lengthAt(rows, i + 1, j), lengthAt(rows, i, j + 1));
    }
  }
  return rows;
}

function lengthAt(rows: readonly Uint32Array[], i: number, j: number): number {
  return rows[i]?.[j] ?? 0;
}
