import type { ReactNode } from 'react';
import { Link, useRoute } from 'wouter';
import './area-tabs.css';

export interface AreaTab {
  readonly title: string;
  /** Relative to the area. */
  readonly path: string;
}

/** The parts of an area, as links below its title. */
export function AreaTabs({
  label,
  tabs,
}: {
  readonly label: string;
  readonly tabs: readonly AreaTab[];
}): ReactNode {
  return (
    <nav className="area-tabs" aria-label={label}>
      {tabs.map((tab) => (
        <Tab key={tab.path} {...tab} />
      ))}
    </nav>
  );
}

function Tab({ title, path }: AreaTab): ReactNode {
  const [isHere] = useRoute(path === '/' ? '/' : `${path}/*?`);
  return (
    <Link href={path} aria-current={isHere ? 'page' : undefined}>
      {title}
    </Link>
  );
}
