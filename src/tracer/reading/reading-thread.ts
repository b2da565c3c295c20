/** The thread that decodes stored traces and makes answers of them, away from the event loop. */
import { parentPort } from 'node:worker_threads';
import { Fault } from '../../kit/errors.ts';
import { unpackChunks } from '../chunk/chunk-body.ts';
import { readSpans } from '../otlp/read.ts';
import type { FoundTrace, ReadRefusal, ReadReply, ReadRequest } from './messages.ts';
import type { StoredTrace } from './view.ts';
import { pairViews, viewNamed } from './views.ts';

if (parentPort) serve(parentPort);

type Port = NonNullable<typeof parentPort>;

function serve(port: Port): void {
  const serveOne = async (request: ReadRequest) => {
    const reply = await answer(request);
    port.postMessage(reply, 'json' in reply ? [reply.json.buffer as ArrayBuffer] : []);
  };
  port.on('message', (request: ReadRequest) => void serveOne(request));
}

async function answer(request: ReadRequest): Promise<ReadReply> {
  const { id } = request;
  try {
    // A copy with memory of its own, which can be moved to the other side.
    return { id, json: new TextEncoder().encode(JSON.stringify(await show(request))) };
  } catch (error) {
    return { id, refusal: refusalOf(error) };
  }
}

async function show({ asked, traces }: ReadRequest): Promise<unknown> {
  const [first, second] = await Promise.all(traces.map(open));
  if (!first) throw new Fault('internal', 'no trace was given');
  if ('view' in asked) return viewNamed(asked.view)(first, asked.input);
  if (!second) throw new Fault('internal', 'no second trace was given');
  return pairViews[asked.pair](first, second);
}

async function open({ chunks, ...found }: FoundTrace): Promise<StoredTrace> {
  const bodies = await unpackChunks(chunks, new Set([found.traceId]));
  return { ...found, bodies, spans: readSpans(bodies, found.traceId) };
}

function refusalOf(error: unknown): ReadRefusal {
  const { code, reason, message } = Fault.from(error);
  if (code === 'invalid' || code === 'not_found') return { code, reason, message };
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: 'internal', reason, message: cause };
}
