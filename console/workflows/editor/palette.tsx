import { useRef, useState, type ReactNode } from 'react';
import { reasonOf } from '../../session/permissions.ts';
import { Permitted } from '../../session/permitted.tsx';
import { useIsAllowed } from '../../session/person.ts';
import { hasWords } from '../../ui/entry-text.ts';
import type { Component } from '../flow/flow.ts';

/** The kind of data by which a component is known while it is dragged. */
export const draggedType = 'application/x-ennead-component';

export interface PaletteGroup {
  readonly title: string;
  readonly components: readonly Component[];
}

export interface PaletteProps {
  readonly groups: readonly PaletteGroup[];
  readonly onAdd: (component: string) => void;
}

const needed = 'workflow:create';

/** The components, to be dragged onto the canvas, or added by a double click, a tap or the Enter key. */
export function Palette({ groups, onAdd }: PaletteProps): ReactNode {
  const [sought, setSought] = useState('');
  const mayAdd = useIsAllowed(needed);
  const found = groups
    .map(({ title, components }) => ({
      title,
      components: components.filter((component) => isSought(component, sought)),
    }))
    .filter(({ components }) => components.length > 0);
  return (
    <aside className="workflow-palette" aria-label="Components">
      <input
        type="search"
        aria-label="Search components"
        placeholder="Search"
        value={sought}
        onChange={({ target }) => setSought(target.value)}
      />
      <Permitted needs={needed}>
        {found.map(({ title, components }) => (
          <section key={title}>
            <h2>{title}</h2>
            {components.map((component) => (
              <PaletteItem key={component.name} {...{ component, mayAdd, onAdd }} />
            ))}
          </section>
        ))}
      </Permitted>
      {found.length === 0 ? <p className="faint">No component is called so.</p> : null}
      <p className="faint workflow-hint">
        {mayAdd
          ? 'Drag onto the canvas. Enter, a double click or a tap adds behind the selected step.'
          : `${reasonOf(needed)}.`}
      </p>
    </aside>
  );
}

interface PaletteItemProps {
  readonly component: Component;
  readonly mayAdd: boolean;
  readonly onAdd: (component: string) => void;
}

function PaletteItem({ component, mayAdd, onAdd }: PaletteItemProps) {
  const { name, title, description, group } = component;
  // Fingers cannot drag it.
  const isTouched = useRef(false);
  return (
    <button
      type="button"
      className={`workflow-component ${group}`}
      title={description}
      draggable={mayAdd}
      onDragStart={(event) => {
        event.dataTransfer.setData(draggedType, name);
        event.dataTransfer.effectAllowed = 'copy';
      }}
      onPointerDown={({ pointerType }) => (isTouched.current = pointerType === 'touch')}
      onDoubleClick={() => isTouched.current || onAdd(name)}
      // Keys and screen readers click without a mouse.
      onClick={({ detail }) => (detail === 0 || isTouched.current) && onAdd(name)}
    >
      {title}
    </button>
  );
}

function isSought({ name, title, description }: Component, sought: string): boolean {
  return hasWords(`${name} ${title} ${description}`, sought);
}
