import { useState, type ReactNode } from 'react';

export interface CopyButtonProps {
  readonly text: string;
  readonly label: string;
}

const toldMs = 1_500;

/** Puts a text on the clipboard, and says so. */
export function CopyButton({ text, label }: CopyButtonProps): ReactNode {
  const [told, setTold] = useState('');
  const copy = async () => {
    setTold((await write(text)) ? 'Copied' : 'The browser does not allow it');
    setTimeout(() => setTold(''), toldMs);
  };
  return (
    <button type="button" title={text} onClick={() => void copy()}>
      <output>{told || label}</output>
    </button>
  );
}

/** Pages that come neither from this machine nor over TLS have no clipboard. */
async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
