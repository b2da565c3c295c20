import { useVirtualizer } from '@tanstack/react-virtual';
import { useId, useRef, useState, type DragEvent, type KeyboardEvent, type ReactNode } from 'react';
import type { TreeRow } from './file-tree.ts';

export interface TreeListProps {
  readonly rows: readonly TreeRow[];
  readonly openPath: string | undefined;
  readonly onOpen: (path: string) => void;
  readonly onToggle: (folder: string) => void;
  /** Something is dropped on a folder. */
  readonly onDrop?: (event: DragEvent, folder: string) => void;
}

const rowHeight = 26;

/** The lines of the tree; only those in sight are in the page, so there may be very many. */
export function TreeList(props: TreeListProps): ReactNode {
  const { rows, openPath, onOpen, onToggle, onDrop } = props;
  const baseId = useId();
  const [chosen, setChosen] = useState(0);
  // A list that became shorter ends before it.
  const active = Math.min(chosen, rows.length - 1);
  const { scroller, virtualizer } = useLines(rows.length);
  const act = ({ path, isOpen }: TreeRow) => (isOpen === undefined ? onOpen(path) : onToggle(path));
  const go = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    setChosen(next);
    virtualizer.scrollToIndex(next);
  };
  const press = (event: KeyboardEvent) => {
    const step = steps[event.key];
    const row = rows[active];
    if (step !== undefined) go(active + step);
    else if (row && isAction(event.key, row)) act(row);
    else return;
    event.preventDefault();
  };
  return (
    <div
      ref={scroller}
      className="tree"
      role="tree"
      aria-label="File tree"
      tabIndex={0}
      aria-activedescendant={active < 0 ? undefined : `${baseId}-${active}`}
      onKeyDown={press}
    >
      <div style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          return row ? (
            <TreeLine
              key={row.path}
              id={`${baseId}-${index}`}
              row={row}
              top={start}
              isActive={index === active}
              isSelected={row.path === openPath}
              onAct={() => {
                setChosen(index);
                act(row);
              }}
              {...(onDrop ? { onDrop } : {})}
            />
          ) : null;
        })}
      </div>
    </div>
  );
}

/** The lines that are in sight, of so many. */
function useLines(count: number) {
  const scroller = useRef<HTMLDivElement>(null);
  // What it answers goes to no component that keeps it.
  // oxlint-disable-next-line react/incompatible-library
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });
  return { scroller, virtualizer };
}

const steps: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 15,
  PageUp: -15,
  Home: -Infinity,
  End: Infinity,
};

function isAction(key: string, { isOpen }: TreeRow): boolean {
  if (key === 'ArrowRight') return isOpen === false;
  if (key === 'ArrowLeft') return isOpen === true;
  return key === 'Enter' || key === ' ';
}

interface TreeLineProps {
  readonly id: string;
  readonly row: TreeRow;
  readonly top: number;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly onAct: () => void;
  readonly onDrop?: (event: DragEvent, folder: string) => void;
}

// The tree itself has the focus and the keys, and names the active line.
/* oxlint-disable jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus */
function TreeLine({ id, row, top, isActive, isSelected, onAct, onDrop }: TreeLineProps) {
  const { path, name, depth, isOpen } = row;
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={depth + 1}
      aria-expanded={isOpen}
      aria-selected={isSelected}
      className={`tree-line${isActive ? ' active' : ''}${isSelected ? ' selected' : ''}`}
      style={{ transform: `translateY(${top}px)`, paddingLeft: `${depth + 0.5}rem` }}
      title={path}
      onClick={onAct}
      onDrop={onDrop && isOpen !== undefined ? (event) => onDrop(event, path) : undefined}
    >
      <span aria-hidden="true" className="tree-mark">
        {isOpen === undefined ? '' : isOpen ? '▾' : '▸'}
      </span>
      {name}
    </div>
  );
}
