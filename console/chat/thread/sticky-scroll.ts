import { useCallback, useEffect, useRef, useState, type RefObject } from 'react';

export interface StickyScroll {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly content: RefObject<HTMLDivElement | null>;
  /** Whether the end is in sight, and stays there as more comes. */
  readonly isAtEnd: boolean;
  readonly toEnd: () => void;
}

/** Nearer to the end than this counts as there. */
const nearPixels = 40;

/** Follows what is written as long as the reader is at its end; whoever scrolls up is left in peace. */
export function useStickyScroll(): StickyScroll {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isStuck = useRef(true);
  const [isAtEnd, setIsAtEnd] = useState(true);
  const toEnd = useCallback(() => {
    isStuck.current = true;
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, []);
  useEffect(() => {
    const box = scroller.current;
    if (!box || !content.current) return undefined;
    let lastTop = box.scrollTop;
    const onScroll = () => {
      const isNear = box.scrollHeight - box.scrollTop - box.clientHeight < nearPixels;
      // Growing content moves the end away without a scroll upwards.
      if (isNear) isStuck.current = true;
      else if (box.scrollTop < lastTop) isStuck.current = false;
      lastTop = box.scrollTop;
      setIsAtEnd(isNear);
    };
    const watcher = new ResizeObserver(() => {
      if (isStuck.current) toEnd();
      else onScroll();
    });
    watcher.observe(content.current);
    watcher.observe(box);
    box.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      watcher.disconnect();
      box.removeEventListener('scroll', onScroll);
    };
  }, [toEnd]);
  return { scroller, content, isAtEnd, toEnd };
}
