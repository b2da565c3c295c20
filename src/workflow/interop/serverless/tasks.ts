import type { Retry } from '../../flow/flow.ts';
import type { DraftNode } from '../draft.ts';
import { fieldsOf, numberOf, present, textOf, type Fields } from '../fields.ts';
import { literalText, pathText, within, type DataPlace } from '../paths.ts';
import type { StepStatus } from '../report.ts';
import { durationMs } from './durations.ts';
import { translateJq, type JqSight } from './jq.ts';

/** A task that is one node. */
export interface MappedTask {
  readonly node?: DraftNode;
  readonly status: StepStatus;
  readonly note?: string;
  /** Where its data is, within its node's output; what came in when absent. */
  readonly data?: readonly string[];
}

/** The word that says what a task does. */
export function kindOf(task: Fields): string {
  return taskKinds.find((kind) => kind in task) ?? 'unknown';
}

const taskKinds = [
  'call',
  'set',
  'wait',
  'run',
  'switch',
  'for',
  'fork',
  'try',
  'do',
  'raise',
  'emit',
  'listen',
];

/** A task that holds no other tasks; Fault `invalid` (`not_translatable`). */
export function mapTask(task: Fields, sight: JqSight): MappedTask {
  const map = simple[kindOf(task)];
  if (map) return map(task, sight);
  const note =
    'raise' in task
      ? 'a flow ends as failed only when a node fails'
      : 'events are taken by triggers';
  return { status: 'unsupported', note };
}

/** What became of a task of our own export: another component than it was is not the same. */
export function asOwn(task: Fields, mapped: MappedTask): MappedTask {
  const was = textOf(fieldsOf(fieldsOf(task['metadata'])[ownMetadata])['type']);
  if (was === '' || mapped.status !== 'exact' || mapped.node?.type === was) return mapped;
  return { ...mapped, status: 'adapted', note: `it was a ${was.slice(0, 64)} before` };
}

/** How often a `catch` tries again; a text names a policy of the document. */
export function retryOf(given: unknown, use: Fields): Retry | undefined {
  if (given === undefined) return undefined;
  const { delay, backoff, limit } = policyOf(given, use);
  const count = numberOf(fieldsOf(fieldsOf(limit)['attempt'])['count']) ?? 3;
  const [kind = 'fixed'] = Object.keys(fieldsOf(backoff));
  return {
    enabled: true,
    maxAttempts: Math.min(20, Math.max(1, Math.trunc(count))),
    backoff: kind === 'exponential' || kind === 'linear' ? kind : 'fixed',
    initialDelay: Math.min(3_600_000, durationMs(delay) ?? 1_000),
  };
}

/** What of a retry policy has no counterpart. */
export function droppedOfRetry(given: unknown, use: Fields): readonly string[] {
  const policy = policyOf(given, use);
  const { attempt, duration } = fieldsOf(policy['limit']);
  const isUnknown = typeof given === 'string' && Object.keys(policy).length === 0;
  return [
    ...['when', 'exceptWhen', 'jitter'].filter((word) => policy[word] !== undefined),
    ...(duration === undefined && fieldsOf(attempt)['duration'] === undefined ? [] : ['duration']),
    ...((numberOf(fieldsOf(attempt)['count']) ?? 1) > 20 ? ['attempts beyond 20'] : []),
    ...(isUnknown ? ['a policy that the document does not hold'] : []),
  ];
}

function policyOf(given: unknown, use: Fields): Fields {
  return typeof given === 'string' ? fieldsOf(fieldsOf(use['retries'])[given]) : fieldsOf(given);
}

/** Milliseconds of a timeout, which may be named; undefined where it is none, or no fixed one. */
export function timeoutOf(given: unknown, use: Fields): number | undefined {
  const timeout = typeof given === 'string' ? fieldsOf(use['timeouts'])[given] : given;
  const { after } = fieldsOf(timeout);
  return after === undefined ? undefined : durationMs(after);
}

const simple: Readonly<Record<string, (task: Fields, sight: JqSight) => MappedTask>> = {
  call: (task, sight) => (task['call'] === 'http' ? callHttp(task, sight) : callOther(task, sight)),
  set: (task, sight) => {
    const input = translateJq(task['set'], sight);
    const node = { type: 'Transform', data: { input, expression: '$' } };
    return { node, status: 'exact', data: ['result'] };
  },
  wait: (task) => {
    const duration = durationMs(task['wait']);
    if (duration === undefined)
      return { status: 'unsupported', note: 'its duration is no fixed one' };
    return { node: { type: 'Wait', data: { duration } }, status: 'exact' };
  },
  run: (task, sight) => {
    const { name, input } = fieldsOf(fieldsOf(task['run'])['workflow']);
    if (textOf(name) === '') {
      return { status: 'unsupported', note: 'scripts and containers of others are never run' };
    }
    const data = present({ workflowId: name, inputs: input && translateJq(input, sight) });
    const note = `import the workflow ${textOf(name).slice(0, 64)} too, and name it here by its new id`;
    return { node: { type: 'SubWorkflow', data }, status: 'adapted', note, data: [] };
  },
};

function callHttp(task: Fields, sight: JqSight): MappedTask {
  const settings = fieldsOf(task['with']);
  const { endpoint, method, headers, query, body, output, redirect } = settings;
  const given = textOf(endpoint) || textOf(fieldsOf(endpoint)['uri']);
  const isSecured = fieldsOf(endpoint)['authentication'] !== undefined;
  const data = present({
    method: (textOf(method) || 'GET').toUpperCase(),
    url: urlOf(given, sight),
    headers: headers && translateJq(headers, sight),
    query: query && translateJq(query, sight),
    body: body && translateJq(body, sight),
    followRedirects: redirect === true ? true : undefined,
  });
  return {
    node: { type: 'HttpRequest', data },
    status: isSecured ? 'adapted' : 'exact',
    ...(isSecured ? { note: 'its authentication is left out: add the header yourself' } : {}),
    data: output === 'response' ? [] : ['body'],
  };
}

/** `{name}` in an address stands for a field of the data. */
function urlOf(address: string, sight: JqSight): string {
  if (/^\s*\$\{/.test(address)) return String(translateJq(address, sight));
  return address
    .split(/\{([A-Za-z_][\w.]*)\}/)
    .map((piece, at) =>
      at % 2 === 0 ? literalText(piece) : `{{ ${pathText(placeIn(sight.own, piece))} }}`,
    )
    .join('');
}

function placeIn(place: DataPlace, path: string): DataPlace {
  return within(place, path.split('.'));
}

/** Under what name the metadata of our own exports hold nodes and edges. */
export const ownMetadata = 'ennead';

/** What our own exports call components that the language has no word for. */
export const ownCallPrefix = 'ennead:';

function callOther(task: Fields, sight: JqSight): MappedTask {
  const name = textOf(task['call']);
  if (!name.startsWith(ownCallPrefix)) {
    return { status: 'unsupported', note: `the call of ${name.slice(0, 64)} has no counterpart` };
  }
  const data = fieldsOf(translateJq(task['with'], sight));
  return { node: { type: name.slice(ownCallPrefix.length), data }, status: 'exact', data: [] };
}
