import { useState } from 'react';

/**
 * State that its entry in the browser's history keeps until the page is loaded anew: whoever comes back finds it
 * as they left it. Names are told apart within a page only.
 */
export function useKept<T>(name: string, initial: T): readonly [T, (value: T) => void] {
  const [value, setValue] = useState(() => keptInEntry(name, initial));
  const keep = (next: T) => {
    setValue(next);
    keepInEntry(name, next);
  };
  return [value, keep];
}

/** What was kept under a name, or else the initial value. */
export function keptInEntry<T>(name: string, initial: T): T {
  const kept = readKept();
  // Nobody else writes there.
  return name in kept ? (kept[name] as T) : initial;
}

/** Keeps a value in the present entry of the browser's history. */
export function keepInEntry(name: string, value: unknown): void {
  const kept = { loadedAt: performance.timeOrigin, values: { ...readKept(), [name]: value } };
  history.replaceState({ ...history.state, kept }, '');
}

interface EntryState {
  readonly kept?: { readonly loadedAt: number; readonly values: Readonly<Record<string, unknown>> };
}

function readKept(): Readonly<Record<string, unknown>> {
  const { kept } = (history.state ?? {}) as EntryState;
  return kept?.loadedAt === performance.timeOrigin ? kept.values : {};
}
