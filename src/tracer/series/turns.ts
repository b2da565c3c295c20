import { setImmediate } from 'node:timers/promises';

/** Others get in between after about so long. */
const turnMs = 4;

/** Does something with each item, without keeping the event loop for longer than a few milliseconds. */
export async function inTurns<Item>(
  items: readonly Item[],
  work: (item: Item) => void,
): Promise<void> {
  let since = performance.now();
  for (const item of items) {
    work(item);
    if (performance.now() - since < turnMs) continue;
    await setImmediate();
    since = performance.now();
  }
}
