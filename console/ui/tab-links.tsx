import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import './tab-links.css';

export interface TabLink {
  /** Below the area's own path; what lies below it belongs to it too. */
  readonly path: string;
  readonly title: string;
  /** A path elsewhere that belongs to it as well. */
  readonly also?: string;
}

/** The parts of a page that have addresses of their own. */
export function TabLinks({
  label,
  tabs,
}: {
  readonly label: string;
  readonly tabs: readonly TabLink[];
}): ReactNode {
  const [location] = useLocation();
  const isShown = ({ path, also }: TabLink) =>
    location === path || location === also || (path !== '/' && location.startsWith(`${path}/`));
  return (
    <nav className="tab-links" aria-label={label}>
      {tabs.map((tab) => (
        <Link key={tab.path} href={tab.path} aria-current={isShown(tab) ? 'page' : undefined}>
          {tab.title}
        </Link>
      ))}
    </nav>
  );
}
