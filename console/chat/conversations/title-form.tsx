import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { Problem } from '../../ui/problem.tsx';

export interface TitleFormProps {
  readonly id: string;
  readonly title: string;
  readonly onDone: () => void;
}

/** Renames a conversation in its place; Escape leaves it as it was. */
export function TitleForm({ id, title, onDone }: TitleFormProps): ReactNode {
  const [text, setText] = useState(title);
  const change = useChange('chat', 'PATCH /api/conversations/:id');
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), []);
  const save = () => {
    if (text.trim() === title) return onDone();
    change.mutate({ params: { id }, body: { title: text.trim() } }, { onSuccess: onDone });
  };
  return (
    <form
      className="stack title-form"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <div className="row">
        <input
          ref={input}
          aria-label="Title"
          maxLength={200}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={({ key }) => key === 'Escape' && onDone()}
        />
        <button type="submit" disabled={change.isPending || text.trim() === ''}>
          Save
        </button>
      </div>
      {change.error ? <Problem error={change.error} /> : null}
    </form>
  );
}
