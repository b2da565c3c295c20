import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { Confirmation } from '../../ui/confirmation.tsx';

/** Leaving changes nothing that could be refused. */
const nothing = { isPending: false, error: null };

/** Asks before a link, the way back, or the browser leaves what is not saved. */
export function LeaveGuard({ isChanged }: { readonly isChanged: boolean }): ReactNode {
  const [way, setWay] = useState<Way>();
  const isLeaving = useRef(false);
  const [, navigate] = useLocation();
  useEffect(() => {
    if (!isChanged) return undefined;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    const catchLink = (event: MouseEvent) => {
      const path = pathOf(event);
      if (path === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      setWay({ go: () => navigate(`~${path}`) });
    };
    const catchTraversal = (event: NavigateEvent) => {
      if (event.navigationType !== 'traverse' || !event.cancelable || isLeaving.current) return;
      event.preventDefault();
      const { key } = event.destination;
      setWay({ go: () => window.navigation.traverseTo(key) });
    };
    window.addEventListener('beforeunload', warn);
    // Before the router hears of it.
    document.addEventListener('click', catchLink, { capture: true });
    navigationHere()?.addEventListener('navigate', catchTraversal);
    return () => {
      window.removeEventListener('beforeunload', warn);
      document.removeEventListener('click', catchLink, { capture: true });
      navigationHere()?.removeEventListener('navigate', catchTraversal);
    };
  }, [isChanged, navigate]);
  if (way === undefined) return null;
  return (
    <Confirmation
      title="Leave without saving?"
      action="Leave"
      change={nothing}
      onConfirm={() => {
        isLeaving.current = true;
        way.go();
      }}
      onClose={() => setWay(undefined)}
    >
      <p>What you have drawn since the last save will be lost.</p>
    </Confirmation>
  );
}

/** Out of the editor. */
interface Way {
  readonly go: () => void;
}

/** Not every browser has it. */
function navigationHere(): Navigation | undefined {
  return 'navigation' in window ? window.navigation : undefined;
}

/** Where a click leads within the console; undefined for others, and those into another tab. */
function pathOf({ target, ctrlKey, metaKey, shiftKey }: MouseEvent): string | undefined {
  const link = target instanceof Element ? target.closest('a') : null;
  const isElsewhere = ctrlKey || metaKey || shiftKey || link?.target === '_blank';
  if (!link || isElsewhere || link.origin !== window.location.origin) return undefined;
  return `${link.pathname}${link.search}`;
}
