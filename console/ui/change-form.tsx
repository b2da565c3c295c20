import type { FormEvent, ReactNode } from 'react';
import { Problem } from './problem.tsx';

/** What a form needs to know of the change that it makes; a mutation is one. */
export interface ChangeState {
  readonly isPending: boolean;
  readonly isSuccess?: boolean;
  readonly error: Error | null;
}

export interface ChangeFormProps {
  readonly change: ChangeState;
  /** What the button says. */
  readonly action: string;
  readonly onSubmit: (form: FormData) => void;
  readonly onCancel?: (() => void) | undefined;
  /** What the button says that does nothing. */
  readonly cancelText?: string;
  readonly isDestructive?: boolean;
  /** Said beside the buttons once the change is made. */
  readonly doneText?: string;
  /** The form's name, where its page has several. */
  readonly label?: string;
  readonly children?: ReactNode;
}

/** A form that changes something, with its refusal beside its button. */
export function ChangeForm(props: ChangeFormProps): ReactNode {
  const { change, action, onSubmit, onCancel, cancelText = 'Cancel', isDestructive } = props;
  const { doneText, label, children } = props;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget));
  };
  return (
    <form className="stack" aria-label={label} onSubmit={submit}>
      {children}
      {change.error ? <Problem error={change.error} /> : null}
      <div className="row">
        <button
          type="submit"
          className={isDestructive ? 'danger' : 'primary'}
          disabled={change.isPending}
        >
          {action}
        </button>
        {onCancel ? (
          <button type="button" onClick={onCancel}>
            {cancelText}
          </button>
        ) : null}
        {doneText && change.isSuccess ? <output className="faint">{doneText}</output> : null}
      </div>
    </form>
  );
}
