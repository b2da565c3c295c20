import { useState, type KeyboardEvent, type ReactNode } from 'react';
import { focusFirst } from '../../ui/focus-first.ts';
import { useChat } from '../chat-context.ts';

export interface ComposerProps {
  /** Whose draft it is. */
  readonly draftKey: string;
  /** Nothing can be sent now. */
  readonly isBusy: boolean;
  readonly onSend: (text: string) => void;
  /** Ends what is being written; absent where nothing can be ended. */
  readonly onStop?: (() => void) | undefined;
}

/** Where a question is written: Enter sends it, Shift and Enter begin a new line. */
export function Composer({ draftKey, isBusy, onSend, onStop }: ComposerProps): ReactNode {
  const { drafts } = useChat();
  const [text, setText] = useState(drafts.get(draftKey) ?? '');
  const write = (next: string) => {
    setText(next);
    drafts.set(draftKey, next);
  };
  const send = () => {
    if (isBusy || text.trim() === '') return;
    write('');
    onSend(text);
  };
  const takeKey = (event: KeyboardEvent) => {
    // Enter also ends a word that an input method composes.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={focusFirst}
        aria-label="Message"
        placeholder="Ask something"
        title="Enter sends, Shift+Enter begins a new line"
        rows={1}
        value={text}
        onChange={({ target }) => write(target.value)}
        onKeyDown={takeKey}
      />
      {onStop ? (
        <button type="button" onClick={onStop}>
          Stop
        </button>
      ) : (
        <button type="submit" className="primary" disabled={isBusy || text.trim() === ''}>
          Send
        </button>
      )}
    </form>
  );
}
