import type { ReactNode } from 'react';
import { formatAmount, type Limit } from './budgets.ts';

/** How much of a limit is used, and when it begins anew. */
export function LimitMeter({ limit }: { readonly limit: Limit }): ReactNode {
  const { unit, amount, period, used, reserved, resetsAt } = limit;
  const held = reserved > 0 ? `, ${formatAmount(reserved, unit)} held` : '';
  const until = new Date(resetsAt).toLocaleString();
  return (
    <div className="limit" title={`Begins anew on ${until}`}>
      <meter
        min={0}
        max={amount}
        high={amount * 0.8}
        value={Math.min(used + reserved, amount)}
        aria-label={`${unit} a ${period}`}
      />
      <span>
        {formatAmount(used, unit)} of {formatAmount(amount, unit)}
        {unit === 'dollars' ? '' : ` ${unit}`} a {period}
        {held}
      </span>
    </div>
  );
}
