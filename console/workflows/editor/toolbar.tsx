import { useEffect, type ReactNode } from 'react';
import { Link } from 'wouter';
import { Permitted } from '../../session/permitted.tsx';
import { useIsAllowed } from '../../session/person.ts';
import { Badge } from '../../ui/badge.tsx';
import { Heading } from '../../ui/heading.tsx';
import { Problem } from '../../ui/problem.tsx';
import type { WorkflowFacts } from './stored-workflow.ts';
import type { DraftState } from './use-draft.ts';
import type { Faults } from './use-faults.ts';
import type { Storing } from './use-storing.ts';

export interface ToolbarProps {
  readonly draft: DraftState;
  readonly faults: Faults;
  readonly storing: Storing;
  readonly onArrange: () => void;
  readonly onShow: (dialog: 'run' | 'versions') => void;
}

/** The workflow's name, and what can be done with it as a whole. */
export function Toolbar({ draft, faults, storing, onArrange, onShow }: ToolbarProps): ReactNode {
  const { labels, isChanged, changeLabels } = draft;
  const { facts, isBusy } = storing;
  const problem = storing.hasConflict ? undefined : (storing.error ?? faults.error);
  const mayStore = useIsAllowed('workflow:create');
  useKeys(draft, mayStore ? storing.save : undefined);
  return (
    <header className="workflow-toolbar">
      <Link href="/" aria-label="All workflows">
        ←
      </Link>
      <div className="unseen">
        <Heading>{labels.name}</Heading>
      </div>
      <input
        className="workflow-name"
        aria-label="Name"
        value={labels.name}
        maxLength={200}
        readOnly={!mayStore}
        onChange={({ target }) => changeLabels({ ...labels, name: target.value })}
      />
      <span className="faint">
        <Standing facts={facts} isChanged={isChanged} />
      </span>
      <div className="actions">
        <Permitted needs="workflow:create">
          <Steps draft={draft} onArrange={onArrange} />
        </Permitted>
        <button type="button" onClick={() => void faults.check().catch(() => {})}>
          Validate
        </button>
        <Permitted needs="workflow:create">
          <Stores {...{ draft, storing }} />
        </Permitted>
        {facts ? <Kept id={facts.id} onShow={onShow} /> : null}
        <Permitted needs="workflow:execute">
          <button type="button" className="primary" disabled={isBusy} onClick={() => onShow('run')}>
            Run …
          </button>
        </Permitted>
      </div>
      {problem ? <Problem error={problem} /> : null}
    </header>
  );
}

type StoresProps = Pick<ToolbarProps, 'draft' | 'storing'>;

/** Saves a draft, or also makes it what runs. */
function Stores({ draft, storing: { facts, isBusy, save, publish } }: StoresProps) {
  return (
    <>
      <button
        type="button"
        disabled={isBusy || !draft.isChanged}
        title="Ctrl+S"
        onClick={() => void save()}
      >
        Save
      </button>
      <button
        type="button"
        disabled={isBusy || !canPublish(draft, facts)}
        title="New executions run what is published"
        onClick={() => void publish()}
      >
        Publish
      </button>
    </>
  );
}

interface KeptProps extends Pick<ToolbarProps, 'onShow'> {
  readonly id: string;
}

const keptPages = [
  ['tests', 'Tests'],
  ['triggers', 'Triggers'],
  ['batches', 'Batches'],
  ['executions', 'Executions'],
] as const;

/** The ways to what is kept of a stored workflow. */
function Kept({ id, onShow }: KeptProps) {
  return (
    <>
      <button type="button" onClick={() => onShow('versions')}>
        Versions
      </button>
      {keptPages.map(([path, title]) => (
        <Link key={path} href={`/${id}/${path}`} className="workflow-button">
          {title}
        </Link>
      ))}
    </>
  );
}

interface StandingProps {
  readonly facts: WorkflowFacts | undefined;
  readonly isChanged: boolean;
}

function Standing({ facts, isChanged }: StandingProps) {
  if (!facts) return 'not saved yet';
  const { status, version, latestVersion } = facts;
  const isDraft = status !== 'draft' && latestVersion > version;
  return (
    <>
      <Badge state={status} />, version {version}
      {isDraft ? `, draft ${latestVersion}` : ''}
      {isChanged ? ', not saved' : ''}
    </>
  );
}

function canPublish({ isChanged }: DraftState, facts: WorkflowFacts | undefined): boolean {
  if (!facts || isChanged) return true;
  return facts.status !== 'active' || facts.latestVersion > facts.version;
}

type StepsProps = Pick<ToolbarProps, 'draft' | 'onArrange'>;

function Steps({ draft: { undo, redo, canUndo, canRedo }, onArrange }: StepsProps) {
  return (
    <>
      <button
        type="button"
        className="quiet"
        title="Ctrl+Z"
        aria-label="Undo"
        disabled={!canUndo}
        onClick={undo}
      >
        ↶
      </button>
      <button
        type="button"
        className="quiet"
        title="Ctrl+Shift+Z"
        aria-label="Redo"
        disabled={!canRedo}
        onClick={redo}
      >
        ↷
      </button>
      <button type="button" className="quiet" onClick={onArrange}>
        Arrange
      </button>
    </>
  );
}

/** Undo, redo and save by the keys that every editor has; in a field undo is the field's. */
function useKeys({ undo, redo }: DraftState, save: Storing['save'] | undefined): void {
  useEffect(() => {
    const act = (event: KeyboardEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      const key = event.key.toLowerCase();
      const isTyping = event.target instanceof Element && event.target.closest('input, textarea');
      if (key === 's') {
        event.preventDefault();
        void save?.();
      } else if (key === 'z' && !isTyping) {
        event.preventDefault();
        (event.shiftKey ? redo : undo)();
      } else if (key === 'y' && !isTyping) redo();
    };
    window.addEventListener('keydown', act);
    return () => window.removeEventListener('keydown', act);
  });
}
