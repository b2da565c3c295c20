import type { AnalysedSpan } from '../trace/analysis.ts';
import { spanKinds } from '../trace/span.ts';
import {
  durationOf,
  idsOf,
  isModelCall,
  longestOf,
  pathMax,
  pathSum,
  type Finding,
  type Scene,
} from './finding.ts';
import { groupBy } from '../../kit/group-by.ts';
import { operationKey } from './operation-key.ts';

/**
 * At least five spans of one operation in sequence below one parent; over all parents together one
 * finding an operation, of those worth a hundredth of the trace. A model's turns are no repetition: each reads the one before.
 */
export function findRepetitions(scene: Scene): Finding<'n-plus-one'>[] {
  return [...groupBy(scene.repetitions, ([first]) => keyOf(first)).values()].flatMap((group) => {
    const calls = group.flat();
    const spentUs = calls.reduce((sum, span) => sum + durationOf(span), 0);
    if (spentUs < Math.max(1_000, scene.totalUs * 0.01)) return [];
    const remainsUs = group.reduce((sum, run) => sum + pathMax(scene, run), 0);
    const savingUs = pathSum(scene, calls) - remainsUs;
    const [first] = calls;
    const evidence = {
      operation: first?.head.name ?? '',
      calls: calls.length,
      callUs: Math.round(spentUs / calls.length),
      callee: first?.head.callee?.name,
    };
    const spanIds = idsOf(calls);
    return [{ shape: 'n-plus-one' as const, spanIds, savingUs, remainsUs, evidence }];
  });
}

function keyOf(span: AnalysedSpan | undefined): string {
  return span ? operationKey(span.head) : '';
}

/** How soon a call must follow another for nothing to have been made of the other's answer. */
const handoverMaxUs = 1_000;

/**
 * Calls that follow each other so closely that one could hardly have been made from the other's
 * answer. A trace has no data edges, so this is a likelihood; model calls never count.
 */
export function findSerialCalls(scene: Scene): Finding<'serial-calls'>[] {
  const savingMinUs = Math.max(5_000, scene.totalUs * 0.05);
  return scene.families.flatMap((family) => {
    const others = family.filter((span) => !scene.isRepeated(span));
    return closeRuns(others).flatMap((run) => {
      const remainsUs = pathMax(scene, run);
      const savingUs = pathSum(scene, run) - remainsUs;
      if (run.length < 2 || savingUs < savingMinUs) return [];
      const operations = [...new Set(run.map(({ head }) => head.name))];
      const evidence = { operations, calls: run.length, longestUs: longestOf(run) };
      const spanIds = idsOf(run);
      return [{ shape: 'serial-calls' as const, spanIds, savingUs, remainsUs, evidence }];
    });
  });
}

function closeRuns(family: readonly AnalysedSpan[]): AnalysedSpan[][] {
  const runs: AnalysedSpan[][] = [];
  let last: AnalysedSpan | undefined;
  for (const span of family) {
    const isCandidate = isCall(span) && !span.head.isError && !isModelCall(span);
    if (!isCandidate) last = undefined;
    else {
      const gapUs = last ? span.head.startUs - last.head.endUs : -1;
      if (gapUs >= 0 && gapUs < handoverMaxUs) runs.at(-1)?.push(span);
      else runs.push([span]);
      last = span;
    }
  }
  return runs;
}

function isCall({ head, parent }: AnalysedSpan): boolean {
  const isRemote = parent !== undefined && parent.service !== head.service;
  const isSent = head.kind === spanKinds.client || head.kind === spanKinds.producer;
  return isSent || isRemote || head.genAi?.tool !== undefined;
}

/** Failed attempts that the same operation followed below the same parent; one finding a series. */
export function findRetries(scene: Scene): Finding<'retry'>[] {
  return scene.families.flatMap((family) => {
    if (!family.some(({ head }) => head.isError)) return [];
    return [...groupBy(family, keyOf).values()].flatMap((group) =>
      attemptSeries(group).map((attempts) => retryOf(scene, attempts)),
    );
  });
}

/** Each a series of failures and, where one came, the success after them. */
function attemptSeries(group: readonly AnalysedSpan[]): AnalysedSpan[][] {
  const series: AnalysedSpan[][] = [];
  let open: AnalysedSpan[] = [];
  for (const span of group) {
    const last = open.at(-1);
    if (last && span.head.startUs < last.head.endUs) open = [];
    open.push(span);
    if (!span.head.isError) open = [];
    else if (open.length === 1) series.push(open);
  }
  return series.filter(({ length }) => length > 1);
}

function retryOf(scene: Scene, attempts: readonly AnalysedSpan[]): Finding<'retry'> {
  const failed = attempts.slice(0, -1);
  const last = attempts.at(-1);
  const waitUs = attempts.reduce((sum, { head }, at) => {
    const before = attempts[at - 1];
    return before ? sum + head.startUs - before.head.endUs : sum;
  }, 0);
  const lostUs = pathSum(scene, failed);
  return {
    shape: 'retry',
    spanIds: idsOf(attempts),
    // Off the path nobody waited for it.
    savingUs: lostUs > 0 ? Math.min(lostUs + waitUs, scene.totalUs) : 0,
    remainsUs: last ? pathSum(scene, [last]) : 0,
    evidence: {
      operation: last?.head.name ?? '',
      failures: attempts.filter(({ head }) => head.isError).length,
      errorCode: failed[0]?.head.errorCode,
      waitUs,
      hasRecovered: last?.head.isError === false,
    },
  };
}
