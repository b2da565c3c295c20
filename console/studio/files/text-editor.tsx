import { useRef, type KeyboardEvent, type ReactNode } from 'react';

export interface TextEditorProps {
  readonly label: string;
  readonly text: string;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
  /** Asked for with Ctrl-S or ⌘S. */
  readonly onSave: () => void;
}

/** A plain text with the numbers of its lines. */
export function TextEditor(props: TextEditorProps): ReactNode {
  const { label, text, isReadOnly, onChange, onSave } = props;
  const numbers = useRef<HTMLPreElement>(null);
  const press = (event: KeyboardEvent) => {
    if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (!isReadOnly) onSave();
  };
  const count = text.split('\n').length;
  return (
    <div className="editor">
      <pre ref={numbers} aria-hidden="true" className="editor-numbers">
        {Array.from({ length: count }, (_, line) => line + 1).join('\n')}
      </pre>
      <textarea
        className="mono"
        aria-label={label}
        value={text}
        readOnly={isReadOnly}
        spellCheck={false}
        wrap="off"
        onChange={({ target }) => onChange(target.value)}
        onKeyDown={press}
        onScroll={({ currentTarget }) => {
          if (numbers.current) numbers.current.scrollTop = currentTarget.scrollTop;
        }}
      />
    </div>
  );
}
