// The whole service runs one batch and says what memory that took.
import { startWorkflow } from '../../src/workflow/testing.ts';
import { serveOrders } from '../harness/measured-child.ts';
import type { BatchHello } from './batch-memory.ts';

const items = Number(process.argv[2]);
const service = await startWorkflow();
const call = await service.callAs('usr_bench');

const runBatch = async (count: number): Promise<void> => {
  const inputs = Array.from({ length: count }, (_, n) => ({ merge: { inputs: { n } } }));
  const path = `/api/v1/workflows/${workflowId}/batch`;
  const started = await call('POST', path, { body: { inputs, options: { concurrency: 20 } } });
  if (started.status !== 202) throw new Error(`a batch was answered ${started.status}`);
  for (;;) {
    const { body } = await call('GET', `/api/v1/batches/${started.body.batchId}`);
    if (body.status === 'completed') return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
};

const flow = { nodes: [{ id: 'merge', type: 'Merge', data: {} }], edges: [] };
const body = { name: 'bench', description: 'bench', category: 'test', flow };
const made = await call('POST', '/api/v1/workflows', { body });
if (made.status !== 201) throw new Error(`a workflow was answered ${made.status}`);
const workflowId: string = made.body.id;

await runBatch(200);
const beforeBytes = process.memoryUsage().rss;
let peakBytes = beforeBytes;
const timer = setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage().rss);
}, 20);
const startMs = performance.now();
await runBatch(items);
clearInterval(timer);
const hello: BatchHello = {
  beforeBytes,
  peakBytes,
  seconds: (performance.now() - startMs) / 1_000,
};
serveOrders(hello, () => {});
