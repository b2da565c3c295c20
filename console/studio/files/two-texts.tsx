import { useMemo, type ReactNode } from 'react';
import { diffLines, type DiffLine } from './line-diff.ts';

interface Side {
  readonly title: string;
  readonly text: string;
}

/** Two texts side by side, with the lines marked that only one of them has. */
export function TwoTexts({
  left,
  right,
}: {
  readonly left: Side;
  readonly right: Side;
}): ReactNode {
  const lines = useMemo(() => diffLines(left.text, right.text), [left.text, right.text]);
  return (
    <div className="two-texts">
      <TextSide title={left.title} side="left" lines={lines} />
      <TextSide title={right.title} side="right" lines={lines} />
    </div>
  );
}

interface TextSideProps {
  readonly title: string;
  readonly side: 'left' | 'right';
  readonly lines: readonly DiffLine[];
}

function TextSide({ title, side, lines }: TextSideProps) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <pre className="mono text-side">
        {lines.map((line, at) => (
          <span
            // Lines have no name but where they stand.
            // oxlint-disable-next-line react/no-array-index-key
            key={at}
            className={line.side === 'both' ? 'line' : `line ${line.side === side ? side : 'gap'}`}
          >
            {line.side === 'both' || line.side === side ? line.text : ''}
            {'\n'}
          </span>
        ))}
      </pre>
    </section>
  );
}
