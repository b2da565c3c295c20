import type { NodeOutcomes } from './node-outcomes.ts';
import type { Move } from '../walk/walk-moves.ts';

/** Says what a move brings that neither begins nor ends a component. */
export function tellMove(
  outcomes: NodeOutcomes,
  move: Exclude<Move, { readonly kind: 'run' | 'cancelled' }>,
): void {
  const { step } = move;
  switch (move.kind) {
    case 'skipped':
      outcomes.skip(step);
      return;
    case 'opened':
      outcomes.open(step);
      return;
    case 'closed':
    case 'pinned':
      outcomes.close(step);
      return;
    case 'parked':
      outcomes.restore(step);
      return;
    case 'failed':
      outcomes.failAt(step, move.error);
  }
}
