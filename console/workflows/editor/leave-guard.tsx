import { useEffect, useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { Confirmation } from '../../ui/confirmation.tsx';

/** Leaving changes nothing that could be refused. */
const nothing = { isPending: false, error: null };

/** Asks before a link, or the browser, leaves what is not saved. */
export function LeaveGuard({ isChanged }: { readonly isChanged: boolean }): ReactNode {
  const [address, setAddress] = useState<string>();
  const [, navigate] = useLocation();
  useEffect(() => {
    if (!isChanged) return undefined;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    const catchLink = (event: MouseEvent) => {
      const path = pathOf(event);
      if (path === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      setAddress(path);
    };
    window.addEventListener('beforeunload', warn);
    // Before the router hears of it.
    document.addEventListener('click', catchLink, { capture: true });
    return () => {
      window.removeEventListener('beforeunload', warn);
      document.removeEventListener('click', catchLink, { capture: true });
    };
  }, [isChanged]);
  if (address === undefined) return null;
  return (
    <Confirmation
      title="Leave without saving?"
      action="Leave"
      change={nothing}
      onConfirm={() => navigate(`~${address}`)}
      onClose={() => setAddress(undefined)}
    >
      <p>What you have drawn since the last save will be lost.</p>
    </Confirmation>
  );
}

/** Where a click leads within the console; undefined for others, and those into another tab. */
function pathOf({ target, ctrlKey, metaKey, shiftKey }: MouseEvent): string | undefined {
  const link = target instanceof Element ? target.closest('a') : null;
  const isElsewhere = ctrlKey || metaKey || shiftKey || link?.target === '_blank';
  if (!link || isElsewhere || link.origin !== window.location.origin) return undefined;
  return `${link.pathname}${link.search}`;
}
