import type { ReactNode } from 'react';

const ranges = [
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
] as const;

/** How far back the tracer adds up. */
export type Range = (typeof ranges)[number][0];

/** What a section of the metrics is shown with: its choices are in the address. */
export interface SectionProps {
  readonly range: Range;
  readonly parameters: URLSearchParams;
  readonly onSet: (part: Readonly<Record<string, string>>) => void;
}

/** The range that an address names; a day where it names none. */
export function readRange(parameters: URLSearchParams): Range {
  const asked = parameters.get('range');
  return ranges.find(([name]) => name === asked)?.[0] ?? '24h';
}

export interface RangeChoiceProps {
  readonly range: Range;
  readonly onChoose: (range: Range) => void;
}

/** Chooses a time range up to now. */
export function RangeChoice({ range, onChoose }: RangeChoiceProps): ReactNode {
  return (
    <select
      aria-label="Time range"
      value={range}
      onChange={({ target }) => onChoose(target.value as Range)}
    >
      {ranges.map(([value, title]) => (
        <option key={value} value={value}>
          {title}
        </option>
      ))}
    </select>
  );
}
