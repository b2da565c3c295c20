import { useEffect, useState, type ReactNode } from 'react';
import { Problem } from '../../ui/problem.tsx';
import { ConflictView } from './conflict-view.tsx';
import type { FilePlace } from './file-calls.ts';
import { TextEditor } from './text-editor.tsx';
import { lineEndOf, toEdited } from './text-form.ts';
import { useEdit, type Edit } from './use-edit.ts';

export interface TextFileProps {
  readonly place: FilePlace;
  /** As it was read. */
  readonly text: string;
  readonly hash: string;
  /** Of what is there by now; undefined when it is gone. */
  readonly nowHash: string | undefined;
  readonly mayEdit: boolean;
  /** Reads it again. */
  readonly onReload: () => unknown;
}

/** A text that can be edited. What somebody else wrote meanwhile is shown beside it, and overwritten by choice alone. */
export function TextFile(props: TextFileProps): ReactNode {
  const { place, nowHash, mayEdit, onReload } = props;
  const edit = useEdit(props);
  const { base, draft, isEdited, save, theirs, resolution } = edit;
  // An edit that was kept from before may rest on what is no longer there.
  const [firstHash] = useState(isEdited ? base.hash : nowHash);
  const isBehind = nowHash !== firstHash && nowHash !== base.hash && !save.isPending;
  useEffect(() => {
    if (isBehind && !isEdited && !theirs) onReload();
  }, [isBehind, isEdited, theirs, onReload]);
  if (theirs) {
    return (
      <ConflictView
        path={place.path}
        mine={draft}
        theirs={theirs}
        change={resolution}
        onTakeTheirs={() => {
          edit.drop();
          onReload();
        }}
        onSaveMine={() => resolution.mutate('over')}
        onSaveCopy={() => resolution.mutate('beside', { onSuccess: () => void onReload() })}
        onMerge={edit.merge}
      />
    );
  }
  return (
    <>
      {isBehind && isEdited ? (
        <div className="notice row" role="alert">
          <span>Somebody has changed this file since you opened it.</span>
          <button type="button" onClick={() => void edit.compare()}>
            Show both
          </button>
        </div>
      ) : null}
      <TextEditor
        label={place.path}
        text={draft}
        isReadOnly={!mayEdit}
        onChange={edit.change}
        onSave={() => save.mutate()}
      />
      {lineEndOf(base.text) === 'mixed' ? (
        <p className="faint">Its lines end in several ways; saved from here they all end in LF.</p>
      ) : null}
      {save.error ? <Problem error={save.error} /> : null}
      {mayEdit ? <SaveBar edit={edit} /> : null}
    </>
  );
}

function SaveBar({ edit }: { readonly edit: Edit }) {
  const { base, isEdited, save } = edit;
  return (
    <div className="row">
      <button
        type="button"
        className="primary"
        disabled={!isEdited || save.isPending}
        onClick={() => save.mutate()}
      >
        Save
      </button>
      <button type="button" disabled={!isEdited} onClick={() => edit.change(toEdited(base.text))}>
        Undo all
      </button>
      <output className="faint">
        {isEdited ? 'Not saved yet' : save.isSuccess ? 'Saved' : ''}
      </output>
    </div>
  );
}
