import { totalmem } from 'node:os';

/** What this process may use: the machine's memory, or less where its cgroup says so. */
export function availableMemoryBytes(): number {
  const limit = process.constrainedMemory();
  // 0 and a number beyond the machine both mean that there is no limit.
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
