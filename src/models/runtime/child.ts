/**
 * The process that runs llama.cpp. A fault in native code ends this process and not the suite; it
 * holds no secret and nothing that must outlive it. It is started by worker.ts.
 */
import { complete } from './completion.ts';
import { Engine } from './engine.ts';
import { Fault } from '../../kit/errors.ts';
import type { ChildSettings, GenerateMessage, ToChild, ToParent } from './protocol.ts';

const logLengthMax = 500;
const textIntervalMs = 5;

// Without a parent there is nobody to answer. SIGKILL, because llama.cpp's destructors may abort
// and leave a core file.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

// Ctrl-C reaches the whole process group; when to stop is the parent's decision.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});

// The parent is the only one who writes this argument and these messages.
const settings = JSON.parse(process.argv[2] ?? '') as ChildSettings;
const post = createOutbox();
const engine = Engine.create(settings, (level, message) => {
  post({ type: 'log', level, message: message.slice(0, logLengthMax) });
});
const running = new Map<number, AbortController>();
process.on('message', (message) => receive(message as ToChild));
await engine;
post({ type: 'ready' });

function receive(message: ToChild): void {
  if (message.type === 'generate') void generate(message);
  if (message.type === 'cancel') running.get(message.id)?.abort(cancelled());
  if (message.type === 'unload') void unload(message.key);
}

async function generate({ id, key, path, work }: GenerateMessage): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  const startedAt = performance.now();
  try {
    const ready = await engine;
    const isNew = !ready.isOpen(key);
    const open = await ready.open(key, path);
    if (isNew) post({ type: 'loaded', key, model: open.described });
    controller.signal.throwIfAborted();
    const end = await complete(open, work, {
      signal: controller.signal,
      loadMs: performance.now() - startedAt,
      emit: (text) => post({ type: 'text', id, text }),
    });
    post({ type: 'end', id, end });
  } catch (error) {
    const fault = Fault.from(error);
    const cause = fault.cause instanceof Error ? fault.cause.stack : undefined;
    post({ type: 'failed', id, code: fault.code, message: fault.message, cause });
  } finally {
    running.delete(id);
  }
}

async function unload(key: string): Promise<void> {
  await (await engine).close(key);
}

function cancelled(): Fault {
  return new Fault('cancelled', 'the caller gave up');
}

/**
 * Joins the texts of a few milliseconds to one message: a small model makes thousands of tokens a
 * second, and a message costs as much as a token. Everything else goes out at once, in order.
 */
function createOutbox(): (message: ToParent) => void {
  let outbox: ToParent[] = [];
  let flushedAt = 0;
  const flush = () => {
    if (outbox.length > 0) process.send?.(outbox);
    outbox = [];
    flushedAt = performance.now();
  };
  return (message) => {
    outbox.push(message);
    const waitMs = flushedAt + textIntervalMs - performance.now();
    if (message.type !== 'text' || waitMs <= 0) flush();
    else if (outbox.length === 1) setTimeout(flush, waitMs);
  };
}
