import type { ReactNode } from 'react';
import type { ChangeState } from '../../ui/change-form.tsx';
import { Problem } from '../../ui/problem.tsx';
import { toEdited } from './text-form.ts';
import { TwoTexts } from './two-texts.tsx';
import type { Theirs } from './use-edit.ts';

export interface ConflictViewProps {
  readonly path: string;
  readonly mine: string;
  readonly theirs: Theirs;
  /** Of saving one's own text nevertheless. */
  readonly change: ChangeState;
  readonly onTakeTheirs: () => void;
  readonly onSaveMine: () => void;
  readonly onSaveCopy: () => void;
  readonly onMerge: () => void;
}

/** One's own text and what somebody else left meanwhile: nothing is written until one of them is chosen. */
export function ConflictView(props: ConflictViewProps): ReactNode {
  const { path, mine, theirs, change, onTakeTheirs, onSaveMine, onSaveCopy, onMerge } = props;
  const isGone = theirs.hash === undefined;
  return (
    <div className="stack">
      <div className="notice" role="alert">
        {isGone
          ? `Somebody has deleted ${path} since you opened it.`
          : `Somebody has changed ${path} since you opened it. Yours is not saved yet.`}
      </div>
      <TwoTexts
        left={{ title: 'In the workspace now', text: textOfTheirs(theirs) }}
        right={{ title: 'Yours', text: mine }}
      />
      {change.error ? <Problem error={change.error} /> : null}
      <div className="row">
        <button type="button" className="primary" onClick={onMerge}>
          Edit mine further
        </button>
        <button type="button" disabled={change.isPending} onClick={onSaveCopy}>
          Save mine beside it
        </button>
        <button type="button" disabled={change.isPending} onClick={onSaveMine}>
          {isGone ? 'Save mine as a new file' : 'Save mine in its place'}
        </button>
        <button type="button" className="danger" onClick={onTakeTheirs}>
          Drop mine
        </button>
      </div>
    </div>
  );
}

function textOfTheirs({ hash, text }: Theirs): string {
  if (hash === undefined) return '';
  return text === undefined ? '(no text, or too long to be shown)' : toEdited(text);
}
