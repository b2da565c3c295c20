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
    const names = new Set([openTab(), heading.textContent, product]);
    document.title = [...names].filter((name) => name !== undefined).join(' · ');
  };
  tell();
  // A name within it may come later.
  const observer = new MutationObserver(tell);
  observer.observe(heading, { childList: true, characterData: true, subtree: true });
  const tabs = document.querySelector('.tab-links');
  if (tabs) observer.observe(tabs, { attributeFilter: ['aria-current'], subtree: true });
  return () => {
    observer.disconnect();
    document.title = product;
  };
}

/** The part of the area that is shown, where it has several. */
function openTab(): string | undefined {
  return document.querySelector('.tab-links [aria-current="page"]')?.textContent;
}
