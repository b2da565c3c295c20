import { useRef, useState, type ReactNode } from 'react';

export interface ShownOnceProps {
  readonly label: string;
  readonly secret: string;
}

/** A secret that is not to be had again, and a button that copies it. */
export function ShownOnce({ label, secret }: ShownOnceProps): ReactNode {
  const field = useRef<HTMLTextAreaElement>(null);
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    field.current?.select();
    // Pages that came over plain HTTP from elsewhere have no clipboard: it is selected for them.
    await (navigator.clipboard as Clipboard | undefined)?.writeText(secret);
    setIsCopied('clipboard' in navigator);
  };
  return (
    <div className="stack">
      <p className="faint">Copy it now: it is shown this once.</p>
      <textarea
        ref={field}
        className="mono"
        aria-label={label}
        readOnly
        value={secret}
        rows={secret.split('\n').length}
      />
      <div className="row">
        <button type="button" onClick={() => void copy()}>
          Copy
        </button>
        <span className="faint" aria-live="polite">
          {isCopied ? 'Copied' : ''}
        </span>
      </div>
    </div>
  );
}
