import type { Flow, FlowNode } from '../../flow/flow.ts';
import { fieldsOf, isFields, listOf, textOf, type Fields } from '../fields.ts';
import { conditionToJq, textToJq } from './to-jq.ts';
import { ownCallPrefix, ownNamespace } from './tasks.ts';
import { writeVersion } from './versions.ts';

/** A node as a task. */
export interface WrittenTask {
  readonly task: Fields;
  /** What is kept of its output, as jq. */
  readonly output: string;
  /** What the task does not say. */
  readonly losses: readonly string[];
}

/** The task of a node; a component that the language has no word for becomes a call of `ennead:<name>`. */
export function writeTask(node: FlowNode, flow: Flow): WrittenTask {
  const losses: string[] = [];
  const write = writers[node.type];
  const written = write?.(node, { flow, lose: (what) => losses.push(what) });
  if (written && losses.length === 0) return { ...written, losses: unsaidOf(node) };
  const fallback: string[] = write ? losses : [`there is no word for ${node.type}`];
  const settings = jqOf(node.data, (what) => fallback.push(what));
  const task = { call: `${ownCallPrefix}${node.type}`, with: settings };
  return { task, output: '.', losses: [...new Set(fallback)] };
}

/** Settings that tasks say; of the others of a node its task says nothing. */
const said: Readonly<Record<string, readonly string[]>> = {
  HttpRequest: ['method', 'url', 'headers', 'query', 'body', 'followRedirects'],
  Transform: ['input', 'expression'],
  Merge: ['inputs', 'mode'],
  Condition: ['condition'],
  Switch: ['cases', 'default'],
  Wait: ['duration'],
  SubWorkflow: ['workflowId', 'version', 'inputs', 'wait'],
};

function unsaidOf({ type, data }: FlowNode): string[] {
  return Object.entries(data)
    .filter(([name, value]) => value !== undefined && !said[type]?.includes(name))
    .map(([name]) => `its setting ${JSON.stringify(name)} is not said`);
}

type Lose = (what: string) => void;
type Write = (
  node: FlowNode,
  on: { readonly flow: Flow; readonly lose: Lose },
) => Omit<WrittenTask, 'losses'>;

const writers: Readonly<Record<string, Write>> = Object.assign(Object.create(null), {
  HttpRequest: ({ data }: FlowNode, { lose }: { lose: Lose }) => {
    const { method, url, headers, query, body, followRedirects = true } = data;
    const settings = jqOf({ headers, query, body }, lose);
    const task = {
      call: 'http',
      with: {
        method: (textOf(method) || 'GET').toLowerCase(),
        endpoint: jqOf(url, lose),
        ...Object.fromEntries(
          Object.entries(fieldsOf(settings)).filter(([, one]) => one !== undefined),
        ),
        ...(followRedirects === false ? {} : { redirect: true }),
        output: 'response',
      },
    };
    return { task, output: '{ status: .statusCode, headers: .headers, body: .content }' };
  },
  Transform: ({ data }: FlowNode, { lose }: { lose: Lose }) => {
    if (data['expression'] !== '$') lose('its JSONata has no counterpart');
    return { task: { set: { result: jqOf(data['input'], lose) } }, output: '.' };
  },
  Merge: ({ data }: FlowNode, { lose }: { lose: Lose }) => {
    const { inputs, mode = 'collect' } = data;
    if (mode !== 'collect' || inputs === undefined) lose('how it merges has no counterpart');
    return { task: { set: { merged: jqOf(inputs, lose) } }, output: '.' };
  },
  Condition: ({ data }: FlowNode, { lose }: { lose: Lose }) => {
    const result = conditionToJq(textOf(data['condition']));
    if (result === undefined) lose('its condition has no counterpart in jq');
    return { task: { set: { result: `\${ ${result ?? 'null'} }` } }, output: '.' };
  },
  Switch: ({ data }: FlowNode, { lose }: { lose: Lose }) => {
    const cases = listOf(data['cases']).map(fieldsOf);
    const parts = cases.map(({ when, handle }, at) => {
      const condition = conditionToJq(textOf(when));
      if (condition === undefined) lose('its conditions have no counterpart in jq');
      return `${at === 0 ? 'if' : 'elif'} ${condition ?? 'false'} then ${JSON.stringify(handle)}`;
    });
    const other = JSON.stringify(textOf(data['default']) || 'default');
    const taken = `\${ ${parts.join(' ')} else ${other} end }`;
    return { task: { set: { case: taken } }, output: '.' };
  },
  Wait: ({ data }: FlowNode, { lose }: { lose: Lose }) => {
    const { duration } = data;
    if (typeof duration !== 'number') lose('it waits for a time that is not fixed');
    return { task: { wait: { milliseconds: duration } }, output: '.' };
  },
  SubWorkflow: ({ data }: FlowNode, { lose }: { lose: Lose }) => {
    const { workflowId, version, inputs = {}, wait = true } = data;
    const workflow = {
      namespace: ownNamespace,
      name: workflowId,
      version: version === undefined ? 'latest' : writeVersion(version),
      input: jqOf(inputs, lose),
    };
    const run = { workflow, ...(wait === false ? { await: false } : {}) };
    return { task: { run }, output: '.' };
  },
});

/** Settings with their placeholders in jq. */
function jqOf(value: unknown, lose: Lose): unknown {
  if (typeof value === 'string') {
    const text = textToJq(value);
    if (text === undefined) lose('a placeholder has no counterpart in jq');
    return text ?? value;
  }
  if (Array.isArray(value)) return value.map((one: unknown) => jqOf(one, lose));
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, jqOf(one, lose)]));
}
