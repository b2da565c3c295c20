import type { ReactNode } from 'react';
import { Link } from 'wouter';

const pages = [
  ['/', 'Search'],
  ['/metrics', 'Metrics'],
  ['/dependencies', 'Dependencies'],
  ['/alerts', 'Alerts'],
] as const;

/** The way between the pages of the area. */
export function TracesNav(): ReactNode {
  return (
    <nav className="traces-nav" aria-label="Traces">
      {pages.map(([path, title]) => (
        <Link key={path} href={path} className={(isActive) => (isActive ? 'on' : '')}>
          {title}
        </Link>
      ))}
    </nav>
  );
}
