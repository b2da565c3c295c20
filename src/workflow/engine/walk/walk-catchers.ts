import type { Step } from './walk-frame.ts';

/**
 * The Loops and Parallels that go on from the failure of a node which they run, in place of the execution;
 * undefined where one of those around it does not, and neither does any around that.
 */
export function catchersOf(step: Step): ReadonlySet<Step> | undefined {
  const { loop } = step.frame.round ?? {};
  const holders = step.watchers.length > 0 ? step.watchers : loop ? [loop] : [];
  if (holders.length === 0) return undefined;
  const found = new Set<Step>();
  for (const holder of holders) {
    const catchers = goesOn(holder) ? [holder] : catchersOf(holder);
    if (!catchers) return undefined;
    for (const catcher of catchers) found.add(catcher);
  }
  return found;
}

/** Whether something around a node may end it before it has ended by itself. */
export function mayBeDropped({ frame, watchers }: Step): boolean {
  return frame.round !== undefined || watchers.length > 0;
}

function goesOn({ shape }: Step): boolean {
  return shape.planned.node.onError === 'continue';
}
