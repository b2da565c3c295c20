import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import {
  isChangedSince,
  readIfThere,
  writeContent,
  type Condition,
  type FilePlace,
} from './file-calls.ts';
import { noteApplied } from './held-files.ts';
import { keepEdit, keptEdit, type Base } from './kept-edits.ts';
import { pathBeside } from './paths.ts';
import { fromEdited, lineEndOf, toEdited } from './text-form.ts';

/** What somebody else left at the path: no hash where the file is gone, no text where it is none. */
export interface Theirs {
  readonly hash?: string;
  readonly text?: string;
}

/** What to do with one's own text when there is another: write it over that, or beside it. */
export type Resolution = 'over' | 'beside';

export interface Edit {
  readonly base: Base;
  readonly draft: string;
  readonly isEdited: boolean;
  readonly change: (draft: string) => void;
  readonly save: UseMutationResult<void, Error, void>;
  /** There while both texts are to be shown. */
  readonly theirs: Theirs | undefined;
  readonly compare: () => Promise<void>;
  readonly resolution: UseMutationResult<void, Error, Resolution>;
  /** Goes on editing one's own text, with the other's as what it began with. */
  readonly merge: () => void;
  /** Forgets what was typed. */
  readonly drop: () => void;
}

export interface EditOptions {
  readonly place: FilePlace;
  readonly text: string;
  readonly hash: string;
}

/** An edit of a text, from what was read to what is saved. */
export function useEdit({ place, text, hash }: EditOptions): Edit {
  const client = useQueryClient();
  const [kept] = useState(() => keptEdit(client, place));
  const [base, setBase] = useState<Base>(kept?.base ?? { text, hash });
  const [draft, setDraft] = useState(kept?.draft ?? toEdited(text));
  const [theirs, setTheirs] = useState<Theirs>();
  const drop = () => keepEdit(client, place, undefined);
  const change = (next: string) => {
    setDraft(next);
    keepEdit(client, place, next === toEdited(base.text) ? undefined : { base, draft: next });
  };
  const compare = async () => setTheirs((await readIfThere(place)) ?? {});
  const onError = async (error: Error) => {
    if (isChangedSince(error)) await compare();
  };
  const write = async (condition: Condition, at: FilePlace = place) => {
    const saved = fromEdited(draft, lineEndOf(base.text));
    const applied = await writeContent(at, saved, condition);
    noteApplied(client, at, applied);
    if (at === place) setBase({ text: saved, hash: applied.file?.hash });
    setTheirs(undefined);
    drop();
  };
  const save = useMutation({ mutationFn: () => write(conditionOf(base)), onError });
  const resolution = useMutation({
    mutationFn: (how: Resolution) =>
      how === 'over'
        ? write(conditionOf(theirs ?? {}))
        : write('free', { ...place, path: pathBeside(place.path, new Date()) }),
    onSuccess: save.reset,
    onError,
  });
  const merge = () => {
    const next = { text: theirs?.text ?? '', hash: theirs?.hash };
    setBase(next);
    keepEdit(client, place, { base: next, draft });
    setTheirs(undefined);
    save.reset();
  };
  const isEdited = draft !== toEdited(base.text);
  return { base, draft, isEdited, change, save, theirs, compare, resolution, merge, drop };
}

function conditionOf({ hash }: { readonly hash?: string | undefined }): Condition {
  return hash === undefined ? 'free' : { hash };
}
