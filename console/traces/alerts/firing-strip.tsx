import type { ReactNode } from 'react';
import type { DryRun } from '../parts/answers.ts';

/** The time of a dry run from left to right, marked where the alert would have been firing. */
export function FiringStrip({ outcome }: { readonly outcome: DryRun }): ReactNode {
  const fromMs = Date.parse(outcome.from);
  const lengthMs = Math.max(1, Date.parse(outcome.to) - fromMs);
  const shareOf = (time: string) => ((Date.parse(time) - fromMs) / lengthMs) * 100;
  return (
    <div className="firing-strip" aria-hidden="true">
      {outcome.firings.map(({ firedAt, resolvedAt }) => {
        const start = shareOf(firedAt);
        const end = resolvedAt ? shareOf(resolvedAt) : 100;
        return (
          <span
            key={firedAt}
            style={{ left: `${start}%`, width: `${Math.max(0.3, end - start)}%` }}
          />
        );
      })}
    </div>
  );
}
