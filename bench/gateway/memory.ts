import type { Depth } from '../harness/depth.ts';
import { ratioAtMost, type Figure } from '../harness/figure.ts';
import type { Memory } from '../harness/measured-child.ts';
import { streamShot, wholeShot } from './exchange.ts';
import { Door } from './doors.ts';

const megabyte = 1024 * 1024;
const warmUp = 20_000;

/** What our process holds after many requests, one in ten of them streamed, beside after few. */
export async function measureMemory(depth: Depth): Promise<Figure[]> {
  await using upstream = await Door.upstream();
  await using ours = await Door.ours(upstream);
  const requests = depth.isWhole ? 200_000 : 20_000;
  const shots = Array.from({ length: 10 }, (_, at) => (at === 0 ? streamShot : wholeShot));
  await ours.repeat(shots, warmUp);
  const before = await settled(ours);
  await ours.repeat(shots, requests);
  const after = await settled(ours);
  const count = requests.toLocaleString('en-US');
  const figureOf = (what: string, key: keyof Memory): Figure => ({
    title: `Memory of our process, ${what}, garbage collected`,
    rows: [
      {
        name: `after ${count} requests more`,
        role: 'ours',
        unit: 'MB',
        samples: [after[key] / megabyte],
        goal: ratioAtMost(1.1),
      },
      {
        name: `after ${warmUp.toLocaleString('en-US')} requests`,
        role: 'limit',
        unit: 'MB',
        samples: [before[key] / megabyte],
      },
    ],
  });
  return [figureOf('heap', 'heapBytes'), figureOf('resident', 'residentBytes')];
}

/** Waits until what was written behind the answers is written. */
async function settled(door: Door): Promise<Memory> {
  await new Promise((resolve) => void setTimeout(resolve, 3_000));
  return door.memory();
}
