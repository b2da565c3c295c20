import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { Fault } from '../../../kit/errors.ts';
import { requirePermission } from '../../../kit/permissions.ts';
import { findFlaws } from '../../../kit/schema-flaws.ts';
import type {
  Component,
  NodeContext,
  NodeOutcome,
  Rest,
  Usage,
} from '../../components/component.ts';
import { sumUsage } from '../../components/spent-fault.ts';
import type { Retry } from '../../flow/flow.ts';
import { AttemptEnd } from './attempt-end.ts';
import type { Clock } from '../clock.ts';
import { failureOf, late, overdue, type NodeFailure } from './node-failure.ts';
import type { Underway } from '../journal/open-nodes.ts';
import type { Step } from '../walk/walk-frame.ts';

/** What one node came to after all its attempts. */
export type NodeEnd =
  | ({ readonly kind: 'ended'; readonly outcome: NodeOutcome } & Attempts)
  | ({ readonly kind: 'failed'; readonly failure: NodeFailure } & Attempts)
  /** The execution is over, or runs elsewhere. */
  | { readonly kind: 'stopped' };

interface Attempts {
  /** The last one, from 1. */
  readonly attempt: number;
  /** What those before it used. */
  readonly spent: Usage | undefined;
}

/** What of its context does not change from attempt to attempt. */
export type ContextBase = Omit<NodeContext, 'attempt' | 'signal' | 'timeoutMs' | 'rest'>;

export interface NodeWork {
  readonly step: Step;
  /** Its settings with everything rendered. */
  readonly settings: () => Readonly<Record<string, unknown>>;
  readonly context: ContextBase;
  readonly clock: Clock;
  /** Ends the node without an outcome. */
  readonly signal: AbortSignal;
  /** When the execution has to be over. */
  readonly deadlineAtMs: number | undefined;
  /** What is left of the execution's budget. */
  readonly budget: () => Rest;
  /** The attempt that an earlier life came to; the first when absent. */
  readonly underway?: Underway | undefined;
  /** Told before each further attempt, which waits until it resolves. */
  readonly onRetry: (retry: {
    readonly failure: NodeFailure;
    readonly attempt: number;
    readonly delayMs: number;
    /** What all attempts until now used. */
    readonly spent: Usage | undefined;
  }) => Promise<void>;
}

const timeoutMsDefault = 60_000;
const delayMsMax = 60 * 60_000;

/** Runs one node until an attempt succeeds or no further one is allowed; never rejects. */
export async function runNode(work: NodeWork): Promise<NodeEnd> {
  const { component, node } = work.step.shape.planned;
  const { attempt: first = 1, usage } = work.underway ?? {};
  let spent = usage;
  if (work.underway) await sleep(work, leftOf(work.underway, work.clock.nowMs()));
  for (let attempt = first; ; attempt += 1) {
    if (work.signal.aborted) return { kind: 'stopped' };
    try {
      const outcome = await runAttempt(work, attempt);
      return work.signal.aborted ? { kind: 'stopped' } : { kind: 'ended', outcome, attempt, spent };
    } catch (error) {
      if (work.signal.aborted) return { kind: 'stopped' };
      const failure = failureOf(error, component.group);
      const mayRetry = failure.isRetryable && attempt < attemptsOf(node.retry);
      if (!mayRetry) return { kind: 'failed', failure, attempt, spent };
      spent = sumUsage(spent, failure.usage);
      const { askedMs } = failure;
      const delayMs = delayBefore(node.retry, { attempt, random: work.clock.random(), askedMs });
      const isTold = work.onRetry({ failure, attempt, delayMs, spent });
      await Promise.all([isTold, sleep(work, delayMs)]);
    }
  }
}

/** Milliseconds that are left of the pause before an attempt. */
function leftOf({ atMs, pauseMs }: Underway, nowMs: number): number {
  return Math.min(atMs - nowMs, pauseMs);
}

/** All attempts that a node has. */
export function attemptsOf(retry: Retry | undefined): number {
  return retry?.enabled ? Math.max(1, retry.maxAttempts) : 1;
}

interface FailedAttempt {
  /** From 1. */
  readonly attempt: number;
  /** 0..1 */
  readonly random: number;
  /** What the failure itself asks for. */
  readonly askedMs?: number | undefined;
}

/**
 * Milliseconds after a failed attempt: what the backoff says or the failure asks for, never less but for
 * the limits, and by chance up to a quarter of the backoff more, so that nodes that failed together do not
 * come back together.
 */
export function delayBefore(retry: Retry | undefined, failed: FailedAttempt): number {
  const { attempt, random, askedMs = 0 } = failed;
  const { initialDelay = 0, backoff = 'exponential', maxDelay = delayMsMax } = retry ?? {};
  const factors = { exponential: 2 ** (attempt - 1), linear: attempt, fixed: 1 };
  const own = initialDelay * factors[backoff];
  const wanted = Math.max(own, askedMs) + (own / 4) * random;
  return Math.round(Math.min(wanted, maxDelay, delayMsMax));
}

async function runAttempt(work: NodeWork, attempt: number): Promise<NodeOutcome> {
  const { step, clock, signal, deadlineAtMs } = work;
  const { planned } = step.shape;
  // A draft may have changed since the start.
  const { permission } = planned.component;
  if (permission) requirePermission(work.context.permissions ?? [], permission);
  const checked = checkData(planned.component, work.settings());
  const { timeout } = planned.node;
  const own = timeout ?? planned.component.timeoutMs ?? timeoutMsDefault;
  const left = deadlineAtMs === undefined ? own : deadlineAtMs - clock.nowMs();
  const timeoutMs = Math.max(1, Math.min(own, left));
  const attemptEnd = new AttemptEnd();
  const stop = () => attemptEnd.stop(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const callOff = clock.after(timeoutMs, () => {
    attemptEnd.stop(left < own ? overdue : late(timeoutMs));
  });
  try {
    const rest = restOf(work);
    const context = { ...work.context, attempt, signal: attemptEnd.signal, timeoutMs, rest };
    const outcome = await attemptEnd.orStopped(planned.component.run(checked, context));
    return timeout === undefined ? outcome : boundWait(outcome, timeout, clock.nowMs());
  } catch (error) {
    throw attemptEnd.isOwn(error) ? attemptEnd.reason : error;
  } finally {
    callOff();
    signal.removeEventListener('abort', stop);
  }
}

/** What an execution that this node waits for may use: no more than is left of its own, and its timeout. */
function restOf({ step, clock, deadlineAtMs, budget }: NodeWork): Rest {
  const { timeout = Number.POSITIVE_INFINITY } = step.shape.planned.node;
  const left = deadlineAtMs === undefined ? timeout : deadlineAtMs - clock.nowMs();
  const timeoutMs = Math.max(1, Math.min(timeout, left));
  return { ...budget(), ...(Number.isFinite(timeoutMs) ? { timeoutMs } : {}) };
}

/** A node that waits without running has no more time than its timeout; an execution within keeps to it itself. */
function boundWait(outcome: NodeOutcome, timeoutMs: number, nowMs: number): NodeOutcome {
  if (outcome.kind === 'done' || outcome.reason === 'child') return outcome;
  const { reason, wakeAtMs = Number.POSITIVE_INFINITY } = outcome;
  const untilMs = nowMs + timeoutMs;
  if (reason === 'wait' && wakeAtMs > untilMs) throw late(timeoutMs);
  return { ...outcome, wakeAtMs: Math.min(wakeAtMs, untilMs) };
}

function sleep({ clock, signal }: NodeWork, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      callOff();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const callOff = clock.after(delayMs, finish);
    signal.addEventListener('abort', finish, { once: true });
    if (signal.aborted) finish();
  });
}

interface Checker {
  readonly validator: Validator;
  readonly hasDefaults: boolean;
}

const checkers = new WeakMap<TSchema, Checker>();

/** The settings with their defaults; a Fault `invalid` (`bad_setting`) when they do not hold. */
function checkData(component: Component, data: Readonly<Record<string, unknown>>) {
  const { validator, hasDefaults } = checkerOf(component.input);
  const filled = hasDefaults ? validator.Default(structuredClone(data)) : data;
  // Fields that hold make the type.
  if (validator.Check(filled)) return filled as Readonly<Record<string, unknown>>;
  const [flaw] = findFlaws(validator.Errors(filled), component.input);
  const message = flaw ? `data${flaw.place.replaceAll('/', '.')} ${flaw.message}` : 'bad data';
  throw new Fault('invalid', message, { reason: 'bad_setting', detail: { path: flaw?.place } });
}

function checkerOf(schema: TSchema): Checker {
  const known = checkers.get(schema);
  if (known) return known;
  const hasDefaults = JSON.stringify(schema).includes('"default":');
  const checker = { validator: Compile(schema), hasDefaults };
  checkers.set(schema, checker);
  return checker;
}
