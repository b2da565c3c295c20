import { useState } from 'react';

/**
 * State that its entry in the browser's history keeps until the page is loaded anew: whoever comes back finds it
 * as they left it. Names are told apart within a page only.
 */
export function useKept<T>(name: string, initial: T): readonly [T, (value: T) => void] {
  const [value, setValue] = useState(() => {
    const kept = readKept();
    // Nobody else writes there.
    return name in kept ? (kept[name] as T) : initial;
  });
  const keep = (next: T) => {
    setValue(next);
    const kept = { loadedAt: performance.timeOrigin, values: { ...readKept(), [name]: next } };
    history.replaceState({ ...history.state, kept }, '');
  };
  return [value, keep];
}

interface EntryState {
  readonly kept?: { readonly loadedAt: number; readonly values: Readonly<Record<string, unknown>> };
}

function readKept(): Readonly<Record<string, unknown>> {
  const { kept } = (history.state ?? {}) as EntryState;
  return kept?.loadedAt === performance.timeOrigin ? kept.values : {};
}
