import { useState, type ReactNode } from 'react';

export interface CopyButtonProps {
  readonly text: string;
  /** What the button says; `Copy` unless told. */
  readonly label?: string;
}

const shownMs = 1_500;

/** Copies a text to the clipboard, and says whether that was possible. */
export function CopyButton({ text, label = 'Copy' }: CopyButtonProps): ReactNode {
  const [outcome, setOutcome] = useState<string>();
  const copy = async () => {
    setOutcome(await write(text));
    setTimeout(() => setOutcome(undefined), shownMs);
  };
  return (
    <button type="button" className="quiet" onClick={() => void copy()}>
      <span aria-live="polite">{outcome ?? label}</span>
    </button>
  );
}

async function write(text: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return 'Copied';
  } catch {
    // Without TLS, browsers give pages of other machines no clipboard.
    return 'No clipboard here';
  }
}
