import type { SpanRow } from './span-rows.ts';

/** What is collapsed, and which row is chosen. */
export interface TreeState {
  readonly collapsed: ReadonlySet<string>;
  readonly chosen: string | undefined;
}

/** What a key does to the tree, whose visible rows these are; undefined where it means nothing. */
export function moveBy(
  key: string,
  rows: readonly SpanRow[],
  state: TreeState,
): TreeState | undefined {
  const at = rows.findIndex((row) => row.key === state.chosen);
  const row = rows[at];
  const choose = (target: number) => {
    const chosen = rows[Math.max(0, Math.min(rows.length - 1, target))]?.key;
    return { ...state, chosen };
  };
  if (key === 'Home') return choose(0);
  if (key === 'End') return choose(rows.length - 1);
  if (key === 'ArrowDown') return choose(at + 1);
  if (key === 'ArrowUp') return choose(at - 1);
  if (key === 'PageDown') return choose(at + pageRows);
  if (key === 'PageUp') return choose(at - pageRows);
  if (row === undefined) return undefined;
  if (key === 'ArrowLeft') return moveLeft(row, state);
  return key === 'ArrowRight' ? moveRight(row, state, () => choose(at + 1)) : undefined;
}

const pageRows = 20;

function moveLeft({ key, below, parentKey }: SpanRow, state: TreeState): TreeState {
  const canCollapse = below > 0 && !state.collapsed.has(key);
  if (canCollapse) return { ...state, collapsed: toggle(state.collapsed, key) };
  return parentKey === undefined ? state : { ...state, chosen: parentKey };
}

function moveRight(
  { key, below }: SpanRow,
  state: TreeState,
  chooseNext: () => TreeState,
): TreeState {
  if (state.collapsed.has(key)) return { ...state, collapsed: toggle(state.collapsed, key) };
  return below > 0 ? chooseNext() : state;
}

/** The set with the key, or without it where it was there. */
export function toggle(set: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const changed = new Set(set);
  if (!changed.delete(key)) changed.add(key);
  return changed;
}
