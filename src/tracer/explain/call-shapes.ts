import type { AnalysedSpan } from '../trace/analysis.ts';
import { spanKinds } from '../trace/span.ts';
import {
  byStart,
  durationOf,
  idsOf,
  isModelCall,
  longestOf,
  pathSum,
  type Finding,
  type Scene,
} from './finding.ts';
import { groupBy } from '../../kit/group-by.ts';
import { operationKey } from './operation-key.ts';

/** A pair of spans of which one caused the other, and the time lost between them. */
interface Crossing {
  readonly caller: AnalysedSpan;
  readonly callee: AnalysedSpan;
  readonly lostUs: number;
}

/** What is lost must be so much of a trace to be worth a word. */
const shareMin = 0.05;
const lossMinUs = 10_000;

/** Between a producer's end and its consumer's start, as far as their clocks agree. */
export function findQueueWaits(scene: Scene): Finding<'queue-wait'>[] {
  const waits = crossings(scene, spanKinds.producer, spanKinds.consumer).map((pair) => ({
    ...pair,
    lostUs: pair.callee.head.startUs - pair.caller.head.endUs,
  }));
  return [...groupBy(waits, queueOf)].flatMap(([queue, group]) => {
    const [first] = group;
    if (!first) return [];
    const longest = group.reduce((most, pair) => (pair.lostUs > most.lostUs ? pair : most), first);
    const longestUs = Math.max(0, longest.lostUs);
    if (!isWorthAWord(longestUs, scene)) return [];
    const spans = group.flatMap(({ caller, callee }) => [caller, callee]);
    return [
      {
        shape: 'queue-wait' as const,
        spanIds: idsOf([...new Set(spans)]),
        savingUs: group.reduce((most, pair) => Math.max(most, queuedOnPathUs(scene, pair)), 0),
        remainsUs: durationOf(longest.callee),
        evidence: { queue, messages: group.length, longestUs },
      },
    ];
  });
}

/**
 * Nobody waits for a queue, but the trace may last until its work is done. Had that begun at once, it
 * would save no more than its own part of the path, and what nothing ran in.
 */
function queuedOnPathUs(scene: Scene, { callee, lostUs }: Crossing): number {
  const onPathUs = scene.onPathWithin.get(callee.head.spanId) ?? 0;
  return onPathUs > 0
    ? Math.min(Math.max(0, lostUs), scene.outlastsUs, onPathUs + scene.idleUs)
    : 0;
}

function queueOf({ caller }: Crossing): string {
  return caller.head.callee?.name ?? caller.head.name;
}

/** Between a client and the one server that answered it; durations only, so clocks do not matter. */
export function findGaps(scene: Scene): Finding<'client-server-gap'>[] {
  const gaps = crossings(scene, spanKinds.client, spanKinds.server).map((pair) => ({
    ...pair,
    lostUs: Math.min(
      durationOf(pair.caller) - durationOf(pair.callee),
      scene.onPath.get(pair.caller.head.spanId) ?? 0,
    ),
  }));
  return [...groupBy(gaps, wayOf).values()].flatMap((group) => {
    const savingUs = group.reduce((sum, { lostUs }) => sum + Math.max(0, lostUs), 0);
    const clientUs = group.reduce((sum, { caller }) => sum + durationOf(caller), 0);
    const serverUs = group.reduce((sum, { callee }) => sum + durationOf(callee), 0);
    const [first] = group;
    if (!first || !isWorthAWord(savingUs, scene) || savingUs < clientUs * 0.2) return [];
    const from = first.caller.head.service;
    const to = first.callee.head.service;
    return [
      {
        shape: 'client-server-gap' as const,
        spanIds: idsOf(group.flatMap(({ caller, callee }) => [caller, callee])),
        savingUs,
        remainsUs: Math.max(0, clientUs - savingUs),
        evidence: { from, to, calls: group.length, clientUs, serverUs },
      },
    ];
  });
}

function wayOf({ caller, callee }: Crossing): string {
  return `${caller.head.service}\0${callee.head.service}`;
}

/** A client that several servers answered is left out: which of them it waited for is not known. */
function crossings(scene: Scene, callerKind: number, calleeKind: number): readonly Crossing[] {
  const byId = new Map(
    scene.spans
      .filter(({ head }) => head.kind === callerKind)
      .map((span) => [span.head.spanId, span]),
  );
  return scene.families.flatMap((family) => {
    const caller = byId.get(family[0]?.parent?.spanId ?? '');
    const answers = caller ? family.filter(({ head }) => head.kind === calleeKind) : [];
    if (!caller || (calleeKind === spanKinds.server && answers.length > 1)) return [];
    return answers.map((callee) => ({ caller, callee, lostUs: 0 }));
  });
}

const outputTokensMin = 500;
const outputMinUs = 1_000_000;

/** A model's answer of 500 tokens and more that takes a quarter of the trace. */
export function findLongOutputs(scene: Scene): Finding<'long-output'>[] {
  const answers = scene.spans.filter((span) => isLongOutput(scene, span));
  return [...groupBy(answers, ({ head }) => modelOf(head)).values()].map((group) => {
    const outputTokens = group.reduce((sum, { head }) => sum + (head.genAi?.outputTokens ?? 0), 0);
    const durationUs = group.reduce((sum, span) => sum + durationOf(span), 0);
    const [first] = group;
    return {
      shape: 'long-output',
      spanIds: idsOf(group),
      // Of an answer half as long.
      savingUs: Math.floor(pathSum(scene, group) / 2),
      remainsUs: Math.ceil(pathSum(scene, group) / 2),
      evidence: {
        model: first ? modelOf(first.head) : '',
        outputTokens,
        tokensPerSecond: Math.round((outputTokens * 10_000_000) / durationUs) / 10,
        durationUs,
      },
    };
  });
}

function isLongOutput(scene: Scene, span: AnalysedSpan): boolean {
  const tokens = span.head.genAi?.outputTokens ?? 0;
  const waitedUs = scene.onPathWithin.get(span.head.spanId) ?? 0;
  return (
    isModelCall(span) &&
    tokens >= outputTokensMin &&
    waitedUs >= Math.max(outputMinUs, scene.totalUs * 0.25)
  );
}

function modelOf({ genAi, callee, name }: AnalysedSpan['head']): string {
  return genAi?.model ?? callee?.name ?? name;
}

const statementMinUs = 50_000;

/** Statements that take at least 50 ms each and together a fifth of the trace; N+1 left out. */
export function findSlowDatabases(scene: Scene): Finding<'slow-database'>[] {
  const slow = scene.spans.filter(
    (span) =>
      span.head.callee?.type === 'database' &&
      durationOf(span) >= statementMinUs &&
      !scene.isRepeated(span),
  );
  return [...groupBy(slow, ({ head }) => operationKey(head)).values()].flatMap((group) => {
    const spentUs = pathSum(scene, group);
    const head = group[0]?.head;
    if (!head || spentUs < scene.totalUs * 0.2) return [];
    // Were they as fast as what is not slow yet.
    const savingUs = group.reduce((sum, span) => sum + excessOf(scene, span), 0);
    const evidence = {
      operation: head.name,
      database: head.callee?.name ?? '',
      calls: group.length,
      longestUs: longestOf(group),
    };
    const spanIds = idsOf(group);
    const remainsUs = spentUs - savingUs;
    return [{ shape: 'slow-database' as const, spanIds, savingUs, remainsUs, evidence }];
  });
}

function excessOf(scene: Scene, span: AnalysedSpan): number {
  return excessOfStatement(scene.onPathWithin.get(span.head.spanId) ?? 0);
}

/** What of a statement's time on the path is too much while nothing is known of its history. */
export function excessOfStatement(onPathUs: number): number {
  return Math.max(0, onPathUs - statementMinUs);
}

const laterCallsMin = 4;

/**
 * A span that says so itself (`faas.coldstart`), or the first of an operation on a host whose later
 * ones, at least four, all took less than a third of it.
 */
export function findColdStarts(scene: Scene): Finding<'cold-start'>[] {
  const groups = groupBy(scene.spans, ({ head }) => `${operationKey(head)}\0${head.host ?? ''}`);
  return [...groups.values()].flatMap((group) => {
    const [first, ...later] = group.toSorted(byStart);
    if (!first) return [];
    const isFar = later.length >= laterCallsMin && durationOf(first) > 3 * longestOf(later);
    const cold = group.filter(({ head }) => scene.isCold(head.spanId));
    if (cold.length === 0 && !(isFar && isWorthAWord(durationOf(first), scene))) return [];
    const starts = cold.length > 0 ? cold : [first];
    const isStart = new Set(starts);
    const warm = later.filter((span) => !isStart.has(span));
    const laterUs = warm.length > 0 ? medianOf(warm) : undefined;
    const evidence = { operation: first.head.name, firstUs: longestOf(starts), laterUs };
    const spentUs = pathSum(scene, starts);
    // Without a later one it is not known how long a warm one takes.
    const savingUs = laterUs === undefined ? 0 : Math.max(0, spentUs - laterUs * starts.length);
    const [spanIds, remainsUs] = [idsOf(starts), spentUs - savingUs];
    return [{ shape: 'cold-start' as const, spanIds, savingUs, remainsUs, evidence }];
  });
}

function medianOf(spans: readonly AnalysedSpan[]): number {
  const sorted = spans.map(durationOf).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function isWorthAWord(us: number, scene: Scene): boolean {
  return us >= Math.max(lossMinUs, scene.totalUs * shareMin);
}
