import type { Figure } from '../harness/figure.ts';
import { MeasuredChild } from '../harness/measured-child.ts';

export interface BatchHello {
  readonly beforeBytes: number;
  readonly peakBytes: number;
  readonly seconds: number;
}

const child = new URL('batch-child.js', import.meta.url);
const items = 10_000;
const mebibyte = 2 ** 20;

/** A batch of 10,000 items over HTTP on PGlite: time and memory of the process. */
export async function measureBatch(): Promise<Figure[]> {
  await using process = await MeasuredChild.start<BatchHello>(child, [String(items)]);
  const { beforeBytes, peakBytes, seconds } = process.hello;
  const { residentBytes } = await process.memory();
  const memory = (name: string, bytes: number) =>
    ({ name, role: 'ours', unit: 'MiB', samples: [bytes / mebibyte] }) as const;
  return [
    {
      title: 'a batch of 10,000 items of one node, 20 at a time, on PGlite',
      rows: [
        { name: 'items', role: 'ours', unit: '1/s', samples: [items / seconds] },
        memory('memory before', beforeBytes),
        memory('the most while it ran', peakBytes),
        memory('afterwards, collected', residentBytes),
      ],
      note: 'The memory is that of the process, with PGlite in it, which keeps what it once took.',
    },
  ];
}
