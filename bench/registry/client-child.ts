// The official client in a process of its own: `call`, with 64 calls in flight; `paced`, one question
// whether the server is well after the other, evenly over so many milliseconds.
import { setTimeout as sleep } from 'node:timers/promises';
import { connections } from '../harness/load.ts';
import { serveOrders } from '../harness/measured-child.ts';
import { echoInput, echoTool } from './echo-server.ts';
import { connect, type Target } from './targets.ts';

const [way, text = '', windowMs = '0'] = process.argv.slice(2);
// The parent wrote it.
const client = await connect(JSON.parse(text) as Target);
const isModern = client.getProtocolEra() === 'modern';

async function callAll(operations: number): Promise<void> {
  let taken = 0;
  const work = async () => {
    while (taken < operations) {
      taken += 1;
      await client.callTool({ name: echoTool, arguments: echoInput });
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
}

async function pace(operations: number): Promise<void> {
  const startedAt = performance.now();
  for (let at = 1; at <= operations; at += 1) {
    await (isModern ? client.discover() : client.ping());
    const dueMs = (at * Number(windowMs)) / operations;
    await sleep(Math.max(dueMs - (performance.now() - startedAt), 0));
  }
}

serveOrders({}, way === 'paced' ? pace : callAll);
