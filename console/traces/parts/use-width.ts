import { useCallback, useState } from 'react';

/** The width of the element that the first answer is given to as its `ref`, as it changes. */
export function useWidth(): readonly [
  (element: Element | null) => (() => void) | undefined,
  number,
] {
  const [width, setWidth] = useState(800);
  const watch = useCallback((element: Element | null) => {
    if (element === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.floor(entry.contentRect.width));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [watch, width];
}
