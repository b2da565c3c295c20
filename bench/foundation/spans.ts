import { atMost, type Figure } from '../harness/figure.ts';
import type { Depth } from '../harness/depth.ts';
import { measureLoops, type LoopRow } from './loops.ts';

const unit = 'us';

/** A multiple of the 512 spans of a batch, at every depth. */
const operations = 512 * 240;

const recording: readonly LoopRow[] = [
  {
    loop: 'span kit',
    name: 'Tracer: start, 3 attributes, end',
    role: 'ours',
    unit,
    operations,
    goal: atMost(3, unit),
  },
  {
    loop: 'span object',
    name: 'object literal with ids and times',
    role: 'limit',
    unit,
    operations,
  },
  {
    loop: 'span sdk',
    name: 'BasicTracerProvider, BatchSpanProcessor, no-op exporter',
    role: 'peer',
    unit,
    operations,
  },
];

const encoding: readonly LoopRow[] = [
  { loop: 'encode kit', name: 'encodeOtlp', role: 'ours', unit, operations },
  { loop: 'encode json', name: 'JSON.stringify of the records', role: 'limit', unit, operations },
  { loop: 'encode sdk', name: 'JsonTraceSerializer', role: 'peer', unit, operations },
];

/** CPU time per span of the kit's recorder and encoder, beside OpenTelemetry's own. */
export async function measureSpans(depth: Depth): Promise<Figure[]> {
  return [
    {
      title: 'CPU per span recorded',
      rows: await measureLoops(recording, depth),
      note: 'the SDK runs without a context manager, which favours it',
    },
    {
      title: 'CPU per span encoded as OTLP/JSON, in batches of 512',
      rows: await measureLoops(encoding, depth),
      note: 'comes on top of the request when the spans are exported',
    },
  ];
}
