import { useId, type KeyboardEvent, type ReactNode } from 'react';

export interface TabsProps<Name extends string> {
  readonly label: string;
  readonly tabs: readonly (readonly [name: Name, title: string])[];
  readonly chosen: Name;
  readonly onChoose: (name: Name) => void;
  /** What the chosen one shows. */
  readonly children: ReactNode;
}

/** Several views of one thing, of which one is shown; the arrow keys go from one to the next. */
export function Tabs<Name extends string>(props: TabsProps<Name>): ReactNode {
  const { label, tabs, chosen, onChoose, children } = props;
  const id = useId();
  const at = tabs.findIndex(([name]) => name === chosen);
  const press = (event: KeyboardEvent<HTMLButtonElement>) => {
    const next = placeAfter(event.key, at, tabs.length);
    const tab = tabs[next];
    if (!tab) return;
    event.preventDefault();
    onChoose(tab[0]);
    event.currentTarget.parentElement?.querySelectorAll('button')[next]?.focus();
  };
  return (
    <>
      <div className="tabs" role="tablist" aria-label={label}>
        {tabs.map(([name, title]) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-controls={`${id}-panel`}
            aria-selected={name === chosen}
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => onChoose(name)}
            onKeyDown={press}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </>
  );
}

/** The place that a key leads to, around the ends; -1 where it means nothing. */
function placeAfter(key: string, at: number, count: number): number {
  if (key === 'ArrowRight') return (at + 1) % count;
  if (key === 'ArrowLeft') return (at + count - 1) % count;
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : -1;
}
