import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Refusal } from '../../api/refusal.ts';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { Modal } from '../../ui/modal.tsx';
import { Field } from '../../ui/field.tsx';
import { textOf } from '../../ui/form-values.ts';
import {
  deleteContent,
  isChangedSince,
  moveFile,
  writeContent,
  type Applied,
  type FilePlace,
} from './file-calls.ts';
import { noteApplied } from './held-files.ts';
import { keepEdit, keptEdit } from './kept-edits.ts';

export interface NewFileDialogProps {
  readonly workspaceId: string;
  readonly onMade: (path: string) => void;
  readonly onClose: () => void;
}

/** Makes an empty file. */
export function NewFileDialog({ workspaceId, onMade, onClose }: NewFileDialogProps): ReactNode {
  const client = useQueryClient();
  const creation = useMutation({
    mutationFn: async (path: string) => {
      noteApplied(client, { workspaceId, path }, await writeNew({ workspaceId, path }));
      return path;
    },
    onSuccess: (path) => {
      onMade(path);
      onClose();
    },
  });
  return (
    <Modal title="New file" onClose={onClose}>
      <ChangeForm
        change={creation}
        action="Create"
        onSubmit={(form) => creation.mutate(textOf(form, 'path').trim())}
        onCancel={onClose}
      >
        <Field label="Path" hint="Folders before slashes: src/main.ts">
          <input name="path" className="mono" required autoComplete="off" />
        </Field>
      </ChangeForm>
    </Modal>
  );
}

async function writeNew(place: FilePlace): Promise<Applied> {
  try {
    return await writeContent(place, '', 'free');
  } catch (error) {
    throw isChangedSince(error) ? new Refusal(412, `${place.path} is there already`) : error;
  }
}

export interface MoveDialogProps {
  readonly place: FilePlace;
  readonly onMoved: (path: string) => void;
  readonly onClose: () => void;
}

/** Gives a file another name, or puts it into another folder. */
export function MoveDialog({ place, onMoved, onClose }: MoveDialogProps): ReactNode {
  const client = useQueryClient();
  const move = useMutation({
    mutationFn: async (to: string) => {
      const next = { ...place, path: to };
      noteApplied(client, next, await moveFile(place, to));
      keepEdit(client, next, keptEdit(client, place));
      keepEdit(client, place, undefined);
      return to;
    },
    onSuccess: (to) => {
      onMoved(to);
      onClose();
    },
  });
  return (
    <Modal title="Rename or move" onClose={onClose}>
      <ChangeForm
        change={move}
        action="Move"
        onSubmit={(form) => move.mutate(textOf(form, 'path').trim())}
        onCancel={onClose}
      >
        <Field label="New path">
          <input name="path" className="mono" required defaultValue={place.path} />
        </Field>
      </ChangeForm>
    </Modal>
  );
}

export interface DeleteFileDialogProps {
  readonly place: FilePlace;
  /** Of what was known of it: a newer content is not deleted. */
  readonly hash: string;
  readonly onDeleted: () => void;
  readonly onClose: () => void;
}

/** Deletes a file. */
export function DeleteFileDialog(props: DeleteFileDialogProps): ReactNode {
  const { place, hash, onDeleted, onClose } = props;
  const client = useQueryClient();
  const deletion = useMutation({
    mutationFn: () => deleteContent(place, hash),
    onSuccess: (applied) => {
      noteApplied(client, place, applied);
      onDeleted();
      onClose();
    },
  });
  return (
    <Confirmation
      title={`Delete ${place.path}?`}
      action="Delete it"
      change={deletion}
      onConfirm={() => deletion.mutate()}
      onClose={onClose}
    >
      <p>Its versions stay for as long as the studio keeps the changes of this workspace.</p>
    </Confirmation>
  );
}
