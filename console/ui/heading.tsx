import { useEffect, useRef, type ReactNode } from 'react';

const product = 'Ennead';

/** What a page is about. The browser's tab and history say the same while it is shown. */
export function Heading({ children }: { readonly children: ReactNode }): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => (heading.current ? tellTitle(heading.current) : undefined), []);
  return <h1 ref={heading}>{children}</h1>;
}

/** Until what it answers is called. */
function tellTitle(heading: HTMLElement): () => void {
  const tell = () => {
    document.title = `${heading.textContent} · ${product}`;
  };
  tell();
  // A name within it may come later.
  const observer = new MutationObserver(tell);
  observer.observe(heading, { childList: true, characterData: true, subtree: true });
  return () => {
    observer.disconnect();
    document.title = product;
  };
}
