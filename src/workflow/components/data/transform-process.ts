/**
 * The process that evaluates JSONata: a thread is not enough, because one call that builds a long
 * list ends the whole process when it outgrows the heap.
 */
import { Worker } from 'node:worker_threads';
import jsonata from 'jsonata';

/** One evaluation as the process is asked for it. */
export interface TransformQuestion {
  readonly expression: string;
  /** JSON. */
  readonly input: string;
  readonly timeoutMs: number;
  /** Characters of JSON that the result may have. */
  readonly resultLengthMax: number;
}

/** What came of it; `ready` is posted once, before the first question. */
export type TransformReply =
  | { readonly kind: 'ready' }
  /** JSON. */
  | { readonly kind: 'result'; readonly result: string }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'failed'; readonly message: string; readonly position?: number };

/** Evaluations within one another: a recursion without end stops here. */
const stackMax = 500;
/** Members of a list that an expression makes. */
const sequenceMax = 100_000;
const messageLengthMax = 500;

// A test that imports the types has no channel.
if (process.send) serve();

function serve(): void {
  // Whatever a flaw of the evaluator lets an expression write must not outlive it.
  const builtIns = [Object, Array, Function, String, Number, Boolean, Promise, RegExp];
  for (const { prototype } of builtIns) void Object.preventExtensions(prototype);
  process.on('disconnect', () => process.exit());
  watchParent();
  process.on('message', (question: TransformQuestion) => void answer(question).then(post));
  post({ kind: 'ready' });
}

/** An expression that hangs hears of no `disconnect`; a thread sees that the service has died. */
function watchParent(): void {
  const code = `
    const parent = process.ppid;
    setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGKILL'), 1_000);
  `;
  new Worker(code, { eval: true, execArgv: [] }).unref();
}

function post(reply: TransformReply): void {
  process.send?.(reply);
}

async function answer(question: TransformQuestion): Promise<TransformReply> {
  try {
    const value = await evaluate(question);
    const result = JSON.stringify(value, toJson) ?? 'null';
    return result.length > question.resultLengthMax
      ? { kind: 'too-large' }
      : { kind: 'result', result };
  } catch (error) {
    return toReply(error);
  }
}

function evaluate({ expression, input, timeoutMs }: TransformQuestion): Promise<unknown> {
  const options = { timeout: timeoutMs, stack: stackMax, sequence: sequenceMax };
  const compiled = jsonata(expression, options);
  // A text in the data must never become an expression.
  compiled.assign('eval', undefined);
  return compiled.evaluate(JSON.parse(input));
}

/**
 * Leaves out the evaluator's functions, objects that hold all it knows. A number that JSON has no words
 * for, such as what a division by 0 brings, fails as it does where the evaluator itself goes on with it.
 */
function toJson(_name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new Error(`Number out of range: ${value}`);
  }
  const isObject = typeof value === 'object' && value !== null;
  const isFunction = isObject && ('_jsonata_lambda' in value || '_jsonata_function' in value);
  return isFunction ? null : value;
}

function toReply(error: unknown): TransformReply {
  const { code, message, position } = (error ?? {}) as Record<string, unknown>;
  if (code === 'D1012') return { kind: 'timeout' };
  if (error instanceof RangeError && /string length/i.test(error.message)) {
    return { kind: 'too-large' };
  }
  const text = typeof message === 'string' ? message : 'it cannot be evaluated';
  const shown = text.slice(0, messageLengthMax);
  return typeof position === 'number'
    ? { kind: 'failed', message: shown, position }
    : { kind: 'failed', message: shown };
}
