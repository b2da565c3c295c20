import type { Step } from './walk-frame.ts';

/** What a walk wants done, or has done itself, in order. */
export type Move =
  /** Run its component. */
  | { readonly kind: 'run'; readonly step: Step }
  /** It was parked before; whether it is over is not the walk's to say. */
  | { readonly kind: 'parked'; readonly step: Step }
  | { readonly kind: 'skipped'; readonly step: Step }
  /** A Loop or Parallel began. */
  | { readonly kind: 'opened'; readonly step: Step }
  /** A Loop or Parallel ended. */
  | { readonly kind: 'closed'; readonly step: Step }
  /** It ended with the output that stands in for running it. */
  | { readonly kind: 'pinned'; readonly step: Step }
  /** It was ended with the Loop or the Parallel that ran it. */
  | { readonly kind: 'cancelled'; readonly step: Step }
  /** A condition or a Loop's items cannot be worked out. */
  | { readonly kind: 'failed'; readonly step: Step; readonly error: unknown };

const beginnings: ReadonlySet<Move['kind']> = new Set(['run', 'skipped', 'opened', 'pinned']);

/** Whether by this move a node is one more of its execution. */
export function isBeginning({ kind }: Move): boolean {
  return beginnings.has(kind);
}
