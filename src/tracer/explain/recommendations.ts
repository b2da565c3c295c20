import type { Bottleneck } from './bottlenecks.ts';
import type { Finding, Shape } from './finding.ts';

type Sentences = { readonly [S in Shape]: (finding: Finding<S>) => string };

const queueAdvice = 'give it more consumers, if the clocks of both sides agree.';

const sentences: Sentences = {
  'n-plus-one': ({ evidence: { operation, calls, callUs, callee } }) =>
    `${operation} is called ${calls} times one after another, ${inWords(callUs)} each${callee ? `, on ${callee}` : ''}: fetch all in one call.`,
  'serial-calls': ({ evidence: { operations, calls, longestUs } }) =>
    `${calls} calls (${listed(operations)}) run one right after another: if they do not need each other's answers, run them at once; together they take no longer than the longest, ${inWords(longestUs)}.`,
  retry: ({ evidence: { operation, failures, errorCode, waitUs, hasRecovered } }) =>
    `${operation} failed ${times(failures)}${errorCode ? ` (${errorCode})` : ''} and was called again${waitUs > 0 ? ` after ${inWords(waitUs)} of waiting` : ''}${hasRecovered ? '' : ', in vain'}: find out why it fails before you tune it.`,
  'queue-wait': ({ evidence: { queue, messages, longestUs } }) =>
    messages === 1
      ? `A message lay ${inWords(longestUs)} in ${queue} before it was taken: ${queueAdvice}`
      : `${messages} messages lay up to ${inWords(longestUs)} in ${queue} before they were taken: ${queueAdvice}`,
  'client-server-gap': ({ evidence: { from, to, calls, clientUs, serverUs } }) =>
    `${from} waited ${inWords(clientUs)} for ${to}, which worked for ${inWords(serverUs)} of it (${calls} ${calls === 1 ? 'call' : 'calls'}): look at the network, at waiting for a free connection, and at the size of what is sent.`,
  'long-output': ({ evidence: { model, outputTokens, tokensPerSecond, durationUs } }) =>
    `${model} wrote ${outputTokens} tokens in ${inWords(durationUs)} (${tokensPerSecond} a second): ask for a shorter answer, stream it, or take a faster model.`,
  'slow-database': ({ evidence: { operation, database, calls, longestUs } }) =>
    `${operation} on ${database} takes up to ${inWords(longestUs)}${calls > 1 ? ` (${calls} calls)` : ''}: look at its plan, its index, and how many rows it reads.`,
  'cold-start': ({ evidence: { operation, firstUs, laterUs } }) =>
    `${operation} took ${inWords(firstUs)} at the first call${laterUs === undefined ? '' : ` and ${inWords(laterUs)} later`}: keep an instance warm, or prepare it before the first request.`,
};

/** What to do about a shape, in one sentence with its own figures. */
export function recommendShape<S extends Shape>(finding: Finding<S>): string {
  // A shape's sentence takes that shape's finding; the compiler loses the link in a union.
  const sentence = sentences[finding.shape] as (found: Finding<S>) => string;
  return sentence(finding);
}

/** What to do about a bottleneck: the shapes it is part of, else what it is by itself; never nothing. */
export function recommendBottleneck(
  bottleneck: Bottleneck,
  findings: readonly Finding[],
): readonly string[] {
  if (bottleneck.finding) return [recommendShape(bottleneck.finding)];
  const shapes = findings.map(recommendShape);
  return bottleneck.reason === 'error' || shapes.length === 0
    ? [...new Set([sentenceOf(bottleneck), ...shapes])]
    : shapes;
}

function sentenceOf(bottleneck: Bottleneck): string {
  const { head, reason, expectedUs, basis, onPathUs } = bottleneck;
  if (reason === 'error') return failureOf(bottleneck);
  if (reason === 'share') {
    const most = `${head.name} is more than half of the trace, and too little is known of it to say whether that is unusual`;
    return onPathUs > 0
      ? `${most}: look here first.`
      : `${most}; but the trace did not wait for it, so it gains nothing from a faster one.`;
  }
  const expected = inWords(expectedUs);
  const usual =
    basis === 'history' ? `usually takes ${expected}` : `takes ${expected} elsewhere in this trace`;
  const slow = `${head.name} took ${inWords(head.endUs - head.startUs)}, where it ${usual}`;
  return `${slow}: ${adviceOf(bottleneck)}`;
}

function failureOf({ head }: Bottleneck): string {
  const said = head.statusMessage ? `: ${clipped(head.statusMessage)}` : '';
  return `${head.name} in ${head.service} failed (${head.errorCode ?? 'ERROR'}${said}): look for the cause there before you tune anything.`;
}

function adviceOf({ head }: Bottleneck): string {
  switch (head.callee?.type) {
    case 'model':
      return `compare ${head.callee.name}'s latency now, the length of prompt and answer, and a faster model.`;
    case 'database':
      return `look at the statement's plan and at locks on ${head.callee.name}.`;
    case 'queue':
      return `look at how full ${head.callee.name} is.`;
    case 'external':
      return `${head.callee.name} answered slowly; set a deadline, or cache its answers.`;
    default:
      return `its own work in ${head.service} grew; profile it, or give it spans of its own.`;
  }
}

const wordsMax = 200;
const halfCharacter = /[\ud800-\udbff]$/;

function clipped(text: string): string {
  return text.length > wordsMax ? `${text.slice(0, wordsMax).replace(halfCharacter, '')}…` : text;
}

const namedMax = 5;

function listed(names: readonly string[]): string {
  const rest = names.length - namedMax;
  const shown = names.slice(0, namedMax).join(', ');
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** A duration for people: `0.4 ms`, `120 ms`, `2.5 s`. */
export function inWords(us: number): string {
  if (us < 9_950) return `${Math.round(us / 100) / 10} ms`;
  if (us < 999_500) return `${Math.round(us / 1_000)} ms`;
  return `${Math.round(us / 100_000) / 10} s`;
}
