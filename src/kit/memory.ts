import { totalmem } from 'node:os';
import { cgroupMemoryBytes } from './cgroup-memory.ts';

/** What this process may use: the machine's memory, or less where its cgroup or one above it says so. */
export function availableMemoryBytes(): number {
  const limit = process.constrainedMemory();
  // 0 and a number beyond the machine both mean that there is no limit.
  return Math.min(limit > 0 ? limit : Infinity, cgroupMemoryBytes(), totalmem());
}
