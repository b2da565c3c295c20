import { useState, type ReactNode } from 'react';

/** Puts a text into the clipboard, and says whether that went well. */
export function CopyButton({
  text,
  label = 'Copy',
}: {
  readonly text: string;
  readonly label?: string;
}): ReactNode {
  const [outcome, setOutcome] = useState<string>();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome('Copied');
    } catch {
      setOutcome('The browser refused');
    }
  };
  return (
    <button type="button" onClick={() => void copy()} onBlur={() => setOutcome(undefined)}>
      <span aria-live="polite">{outcome ?? label}</span>
    </button>
  );
}
