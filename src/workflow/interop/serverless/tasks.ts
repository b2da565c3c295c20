import type { Retry } from '../../flow/flow.ts';
import type { DraftNode } from '../draft.ts';
import { fieldsOf, isFields, numberOf, present, textOf, type Fields } from '../fields.ts';
import { literalText, pathText, within, type DataPlace } from '../paths.ts';
import type { StepStatus } from '../report.ts';
import { notTranslatable } from '../translation.ts';
import { durationMs } from './durations.ts';
import { readVersion } from './versions.ts';
import { translateData, translateJq, type JqSight } from './jq.ts';

/** A task that is one node. */
export interface MappedTask {
  readonly node?: DraftNode;
  readonly status: StepStatus;
  readonly note?: string;
  /** Where its data is, within its node's output; what came in when absent. */
  readonly data?: readonly string[];
  /** What its data is called, and where it is within its node's output; where its names differ. */
  readonly shape?: Readonly<Record<string, string>>;
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

/** Milliseconds of a timeout, at least 1, which may be named; undefined where it is none, or no fixed one. */
export function timeoutOf(given: unknown, use: Fields): number | undefined {
  const timeout = typeof given === 'string' ? fieldsOf(use['timeouts'])[given] : given;
  const { after } = fieldsOf(timeout);
  const ms = after === undefined ? undefined : durationMs(after);
  return ms === undefined ? undefined : Math.max(1, ms);
}

const simple: Readonly<Record<string, (task: Fields, sight: JqSight) => MappedTask>> = {
  call: (task, sight) => (task['call'] === 'http' ? callHttp(task, sight) : callOther(task, sight)),
  set: (task, sight) => {
    const input = translateData(task['set'], sight);
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
    const { workflow, await: isAwaited } = fieldsOf(task['run']);
    const { namespace, name, version, input } = fieldsOf(workflow);
    if (textOf(name) === '') {
      return { status: 'unsupported', note: 'scripts and containers of others are never run' };
    }
    const data = present({
      workflowId: name,
      version: namespace === ownNamespace ? readVersion(textOf(version)) : undefined,
      inputs: input && translateData(input, sight),
      wait: isAwaited === false ? false : undefined,
    });
    const isNewest = data['version'] === undefined && !['', 'latest'].includes(textOf(version));
    const notes = [
      `import the workflow ${textOf(name).slice(0, 64)} too, and name it here by its new id`,
      ...(isNewest ? [`not ${textOf(version).slice(0, 64)} runs but its published version`] : []),
    ];
    const note = notes.join('; ');
    return { node: { type: 'SubWorkflow', data }, status: 'adapted', note, data: [] };
  },
};

// Each setting is one line.
// oxlint-disable-next-line complexity
function callHttp(task: Fields, sight: JqSight): MappedTask {
  const settings = fieldsOf(task['with']);
  const { endpoint, method, headers, query, body, output, redirect } = settings;
  const given = textOf(endpoint) || textOf(fieldsOf(endpoint)['uri']);
  const data = present({
    method: (textOf(method) || 'GET').toUpperCase(),
    url: urlOf(given, sight),
    headers: headers && translateJq(headers, sight),
    query: query && translateJq(query, sight),
    body: body && (isFields(body) ? translateData(body, sight) : translateJq(body, sight)),
    ...(redirect === true ? { acceptStatus: redirectStatuses } : { followRedirects: false }),
    ...(output === 'raw' ? { responseType: 'base64' } : {}),
  });
  const isResponse = output === 'response';
  const notes = [
    ...(fieldsOf(endpoint)['authentication'] === undefined
      ? []
      : ['its authentication is left out: add the header yourself']),
    ...(isResponse ? ['its response is without `request`'] : []),
  ];
  return {
    node: { type: 'HttpRequest', data },
    status: notes.length > 0 ? 'adapted' : 'exact',
    ...(notes.length > 0 ? { note: notes.join('; ') } : {}),
    data: isResponse ? [] : ['body'],
    ...(isResponse ? { shape: responseShape } : {}),
  };
}

const responseShape = { statusCode: 'status', headers: 'headers', content: 'body' };

/** What is no failure where redirects are followed. */
const redirectStatuses = [300, 301, 302, 303, 304, 305, 306, 307, 308];

/** `{name}` in an address stands for a field of the data, encoded as RFC 6570 says. */
function urlOf(address: string, sight: JqSight): string {
  if (/^\s*\$\{/.test(address)) return String(translateJq(address, sight));
  return address
    .split(/\{([A-Za-z_][\w.]*)\}/)
    .map((piece, at) => {
      if (at % 2 === 1) return `{{ ${pathText(placeIn(sight.own, piece))} | ${encoding} }}`;
      if (!piece.includes('{')) return literalText(piece);
      throw notTranslatable(`the address ${address.slice(0, 120)} has more than names in braces`);
    })
    .join('');
}

const encoding = 'cgi_escape | replace: "+", "%20"';

function placeIn(place: DataPlace, path: string): DataPlace {
  return within(place, path.split('.'));
}

/** Under what name the metadata of our own exports hold nodes and edges. */
export const ownMetadata = 'ennead';

/** Under what namespace our own exports name workflows. */
export const ownNamespace = 'ennead';

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
