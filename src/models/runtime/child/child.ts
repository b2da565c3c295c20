/**
 * The process that runs llama.cpp. A fault in native code ends this process and not the suite; it
 * holds no secret and nothing that must outlive it. It is started by worker.ts.
 */
import { complete } from './completion.ts';
import { embed } from '../embedding.ts';
import { Engine, type OpenModel } from './engine.ts';
import { Fault } from '../../../kit/errors.ts';
import type { ChildSettings, RunMessage, TaskEnd, ToChild, ToParent } from '../protocol.ts';

const logLengthMax = 500;
const textIntervalMs = 20;

// Without a parent there is nobody to answer. SIGKILL, because llama.cpp's destructors may abort
// and leave a core file.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

// Ctrl-C and a closed terminal reach the whole process group; when to stop is the parent's decision.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

// The parent is the only one who writes this argument and these messages.
const settings = JSON.parse(process.argv[2] ?? '') as ChildSettings;
const post = createOutbox();
const engine = new Engine(settings, (level, message) => {
  post({ type: 'log', level, message: message.slice(0, logLengthMax) });
});
const running = new Map<number, AbortController>();
process.on('message', (messages) => {
  for (const message of messages as ToChild[]) receive(message);
});
post({ type: 'ready' });

function receive(message: ToChild): void {
  if (message.type === 'run') void run(message);
  if (message.type === 'cancel') running.get(message.id)?.abort(cancelled());
  if (message.type === 'unload') void unload(message.key);
  if (message.type === 'ping') post({ type: 'pong' });
}

async function run(message: RunMessage): Promise<void> {
  const { id } = message;
  const controller = new AbortController();
  running.set(id, controller);
  try {
    post({ type: 'end', id, end: await perform(message, controller.signal) });
  } catch (error) {
    const { code, message: text, reason, detail, cause } = Fault.from(error);
    const stack = cause instanceof Error ? cause.stack : undefined;
    post({ type: 'failed', id, code, message: text, reason, detail, cause: stack });
  } finally {
    running.delete(id);
  }
}

async function perform(message: RunMessage, signal: AbortSignal): Promise<TaskEnd> {
  const { id, task, subject } = message;
  const startedAt = performance.now();
  const open = await openModel(message);
  signal.throwIfAborted();
  const loadMs = performance.now() - startedAt;
  if (task.kind === 'load') return { type: 'loaded' };
  if (task.kind === 'embed') {
    if (open.kind !== 'embedding') throw new Error('asked a generative model for vectors');
    return embed(open, task.texts, { signal, loadMs });
  }
  if (open.kind !== 'generative') throw new Error('asked an embedding model for text');
  return complete(open, task.work, {
    signal,
    subject,
    loadMs,
    emit: (event) => {
      if (event.type === 'text') post({ type: 'text', id, text: event.text });
      else post({ type: 'call', id, call: event.call });
    },
  });
}

async function openModel({ key, path, model: kind }: RunMessage): Promise<OpenModel> {
  const isNew = !engine.isOpen(key);
  const open = await engine.open({ key, path, kind });
  if (isNew) post({ type: 'loaded', key, model: open.described });
  return open;
}

async function unload(key: string): Promise<void> {
  await engine.close(key);
}

function cancelled(): Fault {
  return new Fault('cancelled', 'the caller gave up');
}

/**
 * Joins the texts of a few milliseconds to one message: a small model makes thousands of tokens a
 * second, and a message costs as much as a token. Everything else goes out at once, in order, the
 * first text of a request too.
 */
function createOutbox(): (message: ToParent) => void {
  const begun = new Set<number>();
  const texts = new Map<number, string>();
  let flushedAt = 0;
  const flush = (...others: readonly ToParent[]) => {
    const joined = Array.from(texts, ([id, text]) => ({ type: 'text', id, text }) as const);
    texts.clear();
    if (joined.length + others.length > 0) process.send?.([...joined, ...others]);
    flushedAt = performance.now();
  };
  const keep = (id: number, text: string) => {
    const waitMs = flushedAt + textIntervalMs - performance.now();
    if (texts.size === 0 && waitMs > 0) setTimeout(flush, waitMs);
    texts.set(id, (texts.get(id) ?? '') + text);
    if (waitMs <= 0 || !begun.has(id)) flush();
    begun.add(id);
  };
  return (message) => {
    if (message.type === 'text') return keep(message.id, message.text);
    if (message.type === 'end' || message.type === 'failed') begun.delete(message.id);
    flush(message);
  };
}
