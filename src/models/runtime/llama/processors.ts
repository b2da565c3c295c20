import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const folder = '/sys/devices/system/cpu';

/**
 * How many cores calculate: two threads of one core only take turns at that. As llama.cpp counts them
 * (`common_cpu_get_num_physical_cores`); where the system does not tell, half of more than four.
 */
export function calculatingCores(): number {
  try {
    const names = readdirSync(folder).filter((name) => /^cpu\d+$/.test(name));
    const cores = names.map((name) =>
      readFileSync(`${folder}/${name}/topology/thread_siblings_list`, 'utf8'),
    );
    if (cores.length > 0) return new Set(cores).size;
  } catch {
    // Another system, or one that hides it.
  }
  const threads = availableParallelism();
  return threads <= 4 ? threads : threads / 2;
}
