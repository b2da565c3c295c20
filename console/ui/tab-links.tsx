import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import './tab-links.css';

export interface TabLink {
  /** Below the area's own path; what lies below it belongs to it too. */
  readonly path: string;
  readonly title: string;
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
  const isShown = (path: string) =>
    path === '/' ? location === '/' : location === path || location.startsWith(`${path}/`);
  return (
    <nav className="tab-links" aria-label={label}>
      {tabs.map(({ path, title }) => (
        <Link key={path} href={path} aria-current={isShown(path) ? 'page' : undefined}>
          {title}
        </Link>
      ))}
    </nav>
  );
}
