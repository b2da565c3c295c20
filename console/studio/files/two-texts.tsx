import { useMemo, type ReactNode } from 'react';
import { diffLines, pairLines, type DiffRow } from './line-diff.ts';

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
  const rows = useMemo(() => pairLines(diffLines(left.text, right.text)), [left.text, right.text]);
  return (
    <div className="two-texts">
      <TextSide title={left.title} side="left" rows={rows} />
      <TextSide title={right.title} side="right" rows={rows} />
    </div>
  );
}

interface TextSideProps {
  readonly title: string;
  readonly side: 'left' | 'right';
  readonly rows: readonly DiffRow[];
}

function TextSide({ title, side, rows }: TextSideProps) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <pre className="mono text-side">
        {rows.map((row, at) => (
          <span
            // Lines have no name but where they stand.
            // oxlint-disable-next-line react/no-array-index-key
            key={at}
            className={row.isSame ? 'line' : `line ${row[side] === undefined ? 'gap' : side}`}
          >
            {row[side]}
            {'\n'}
          </span>
        ))}
      </pre>
    </section>
  );
}
