import type { ReactNode } from 'react';
import { CopyButton } from '../../ui/copy-button.tsx';

export interface CodeBlockProps {
  readonly language: string;
  readonly text: string;
}

/** Code with the language that it says it is in. */
export function CodeBlock({ language, text }: CodeBlockProps): ReactNode {
  return (
    <div className="code-block">
      <div className="code-head">
        <span className="faint">{language}</span>
        <CopyButton text={text} label="Copy code" />
      </div>
      <pre>
        <code>{text}</code>
      </pre>
    </div>
  );
}
