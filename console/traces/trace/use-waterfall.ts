import { useCallback, useMemo, useState } from 'react';
import { useAnswer } from '../../api/answers.ts';
import type { CriticalPath, Span, Trace } from '../parts/answers.ts';
import { moveBy, toggle, type TreeState } from './moves.ts';
import { selfTimesOf } from './self-times.ts';
import { huesOf } from './service-hues.ts';
import { keysAbove, layOutRows, visibleRows, type SpanRow } from './span-rows.ts';
import { saysSo } from './span-search.ts';
import { wholeOf, type TimeWindow } from './time-window.ts';

/** What a span has of the critical path. */
export type PathEntry = CriticalPath['criticalPath'][number];

/** A waterfall and what can be done with it. */
export interface WaterfallState {
  readonly rows: readonly SpanRow<Span>[];
  /** Those that can be seen, by scrolling at most. */
  readonly visible: readonly SpanRow<Span>[];
  readonly chosen: SpanRow<Span> | undefined;
  readonly collapsed: ReadonlySet<string>;
  readonly hues: ReadonlyMap<string, number>;
  readonly whole: TimeWindow;
  readonly window: TimeWindow;
  readonly selfTimes: ReadonlyMap<string, number>;
  readonly path: ReadonlyMap<string, PathEntry>;
  /** The keys of the rows that say what is searched for; undefined while nothing is. */
  readonly matches: ReadonlySet<string> | undefined;
  readonly choose: (key: string | undefined) => void;
  readonly toggleRow: (key: string) => void;
  readonly collapseAll: () => void;
  readonly expandAll: () => void;
  /** True when the key meant something. */
  readonly press: (key: string) => boolean;
  readonly zoom: (window: TimeWindow | undefined) => void;
  readonly goToMatch: (step: 1 | -1) => void;
}

export interface Shown {
  readonly needle: string;
  readonly isPathOnly: boolean;
}

/** Keeps what is chosen, collapsed and zoomed into. */
export function useWaterfall(
  trace: Trace,
  spanId: string | undefined,
  { needle, isPathOnly }: Shown,
): WaterfallState {
  const { spans, traceId } = trace;
  const rows = useMemo(() => layOutRows(spans), [spans]);
  const whole = useMemo(() => wholeOf(spans), [spans]);
  const [tree, setTree] = useState<TreeState>({ collapsed: new Set(), chosen: spanId });
  const [window, setWindow] = useState<TimeWindow>();
  const path = usePath(traceId);
  const shown = useMemo(
    () => (isPathOnly ? rows.filter(({ span }) => span.onCriticalPath) : rows),
    [rows, isPathOnly],
  );
  const visible = useMemo(
    () => (isPathOnly ? shown : visibleRows(shown, tree.collapsed)),
    [shown, isPathOnly, tree.collapsed],
  );
  const matches = useMemo(() => matchesOf(shown, needle), [shown, needle]);
  const choose = useCallback(
    (key: string | undefined) => setTree((known) => ({ ...known, chosen: key })),
    [],
  );
  const toggleRow = useCallback(
    (key: string) => setTree((known) => ({ ...known, collapsed: toggle(known.collapsed, key) })),
    [],
  );
  const reveal = (key: string) => {
    const collapsed = new Set(tree.collapsed);
    for (const above of keysAbove(rows, key)) collapsed.delete(above);
    setTree({ collapsed, chosen: key });
  };
  return {
    rows,
    visible,
    whole,
    matches,
    path,
    chosen: useMemo(() => rows.find(({ key }) => key === tree.chosen), [rows, tree.chosen]),
    collapsed: tree.collapsed,
    selfTimes: useMemo(() => selfTimesOf(rows), [rows]),
    hues: useMemo(() => huesOf(spans), [spans]),
    window: window ?? whole,
    choose,
    toggleRow,
    collapseAll: () => setTree({ ...tree, collapsed: parentsOf(rows) }),
    expandAll: () => setTree({ ...tree, collapsed: new Set() }),
    press: (key) => {
      const next = moveBy(key, visible, tree);
      if (next) setTree(next);
      return next !== undefined;
    },
    zoom: setWindow,
    goToMatch: (step) => {
      const next = matches && neighbourOf([...matches], tree.chosen, step);
      if (next !== undefined) reveal(next);
    },
  };
}

function usePath(traceId: string): ReadonlyMap<string, PathEntry> {
  const { data } = useAnswer('tracer', 'GET /api/v1/traces/:traceId/critical-path', {
    params: { traceId },
  });
  return useMemo(() => new Map(data?.criticalPath.map((entry) => [entry.spanId, entry])), [data]);
}

function matchesOf(
  rows: readonly SpanRow<Span>[],
  needle: string,
): ReadonlySet<string> | undefined {
  const wanted = needle.trim();
  if (wanted === '') return undefined;
  return new Set(rows.filter(({ span }) => saysSo(span, wanted)).map(({ key }) => key));
}

function parentsOf(rows: readonly SpanRow[]): ReadonlySet<string> {
  return new Set(rows.filter(({ below }) => below > 0).map(({ key }) => key));
}

/** The key after or before one, around the ends. */
export function neighbourOf(
  keys: readonly string[],
  from: string | undefined,
  step: 1 | -1,
): string | undefined {
  const at = from === undefined ? -1 : keys.indexOf(from);
  if (at === -1) return keys.at(step === 1 ? 0 : -1);
  return keys.at((at + step) % keys.length);
}
