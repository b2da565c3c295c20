import { Fault } from '../../kit/errors.ts';
import type { Engine, Execution, NodeRun } from '../engine/execution.ts';
import type { Flow } from '../flow/flow.ts';
import type { Definitions } from './definitions.ts';
import { readShown, seesDrafts } from './drafts.ts';
import { faultOf, findMisses, type HoldsCel, type Miss } from './expectation.ts';
import type { FlowTest } from './flow-test.ts';
import * as store from './flow-test-store.ts';
import type { Actor } from './workflow.ts';
import type { WorkflowSql } from './workflow-store.ts';

/** What came of a test. */
export interface FlowTestResult {
  readonly name: string;
  readonly isPassed: boolean;
  readonly executionId: string;
  readonly status: string;
  readonly durationMs: number;
  readonly misses: readonly Miss[];
  readonly error?: Execution['error'];
}

export interface FlowTestsOptions {
  readonly sql: WorkflowSql;
  readonly definitions: Definitions;
  readonly engine: Pick<Engine, 'start' | 'wait' | 'nodeRuns' | 'cancel'>;
  readonly holdsCel: HoldsCel;
}

export interface RunRequest {
  /**
   * When absent the newest one that the actor sees, so that drafts are tested before they are
   * published.
   */
  readonly version?: number | undefined;
  /** Only the test of this name. */
  readonly name?: string | undefined;
  readonly signal: AbortSignal;
}

const atOnce = 5;
const runMsMax = 60_000;

/** The tests that are stored beside workflows; they run through the engine, with outputs that are pinned. */
export class FlowTests {
  readonly #options: FlowTestsOptions;

  constructor(options: FlowTestsOptions) {
    this.#options = options;
  }

  /** None when nobody wrote any; throws `not_found` for a workflow that the actor does not see. */
  async read(workflowId: string, actor: Actor): Promise<readonly FlowTest[]> {
    const { sql, definitions } = this.#options;
    await readShown(definitions, workflowId, actor);
    return store.readTests(sql, workflowId);
  }

  /**
   * Puts these in place of all that were there; throws `forbidden` for others than the owner, `invalid`
   * for tests that are not sound.
   */
  async write(workflowId: string, tests: readonly FlowTest[], actor: Actor): Promise<void> {
    const { sql, definitions } = this.#options;
    const workflow = await definitions.requireOwn(workflowId, actor);
    const { flow } = await definitions.readVersion(workflow, workflow.latest);
    requireSound(tests, flow);
    await store.writeTests(sql, workflowId, tests);
  }

  /** Runs the tests, five at once; throws `not_found` where there is none of the name. */
  async run(
    workflowId: string,
    { version, name, signal }: RunRequest,
    actor: Actor,
  ): Promise<FlowTestResult[]> {
    const { sql, definitions } = this.#options;
    const workflow = await readShown(definitions, workflowId, actor);
    const { latest, version: published = latest } = workflow;
    const wanted = version ?? (seesDrafts(workflow, actor) ? latest : published);
    await definitions.requireStartable(workflowId, wanted, actor);
    const all = await store.readTests(sql, workflowId);
    const chosen = name === undefined ? all : all.filter((test) => test.name === name);
    if (name !== undefined && chosen.length === 0) {
      throw new Fault('not_found', 'there is no such test', { reason: 'test_not_found' });
    }
    const { flow } = await definitions.readVersion(workflow, wanted);
    requireSound(chosen, flow);
    const results: FlowTestResult[] = [];
    const rest = chosen.entries();
    const work = async () => {
      for (const [place, test] of rest) {
        signal.throwIfAborted();
        results[place] = await this.#runOne(test, { workflowId, version: wanted, actor, signal });
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return results;
  }

  async #runOne(
    test: FlowTest,
    {
      workflowId,
      version,
      actor,
      signal,
    }: {
      readonly workflowId: string;
      readonly version: number;
      readonly actor: Actor;
      readonly signal: AbortSignal;
    },
  ): Promise<FlowTestResult> {
    const { engine } = this.#options;
    const { name, inputs, pinned } = test;
    const started = await engine.start({
      workflowId,
      version,
      inputs,
      pinned,
      ownerId: actor.id,
      permissions: actor.permissions ?? [],
      trigger: 'test',
      timeoutMs: runMsMax,
    });
    const execution = await engine.wait(started.id, { timeoutMs: runMsMax, signal });
    const { id: executionId, status, error } = execution;
    if (execution.completedAtMs === undefined) await this.#giveUp(executionId, actor.id);
    const misses = await this.#missesOf(test, execution);
    return {
      name,
      isPassed: misses.length === 0,
      executionId,
      status,
      durationMs: (execution.completedAtMs ?? Date.now()) - execution.startedAtMs,
      misses,
      ...(error ? { error } : {}),
    };
  }

  /** It may have ended in this moment. */
  async #giveUp(executionId: string, by: string): Promise<void> {
    try {
      await this.#options.engine.cancel(executionId, by);
    } catch (error) {
      if (Fault.from(error).code !== 'conflict') throw error;
    }
  }

  async #missesOf(test: FlowTest, execution: Execution): Promise<Miss[]> {
    const { status: wanted = 'completed', expect, inputs } = test;
    const { id, status, error, workflowId, result } = execution;
    if (status !== wanted) {
      const why = error ? `: ${error.nodeId}: ${error.message}` : '';
      return [{ index: -1, message: `it is ${status}, not ${wanted}${why}` }];
    }
    const runs = await this.#options.engine.nodeRuns(id);
    const scope = { nodes: outputsOf(runs), inputs, execution: { id, workflowId } };
    return findMisses(expect, { scope, result }, this.#options.holdsCel);
  }
}

/**
 * Throws `invalid` for tests that cannot be told apart, name nodes which the flow has not, or expect
 * nothing where they seem to.
 */
export function requireSound(tests: readonly FlowTest[], flow: Flow): void {
  const names = tests.map(({ name }) => name);
  if (new Set(names).size !== names.length) throw invalidTest('two tests have the same name');
  for (const test of tests) {
    for (const fault of [...lostNodes(test, flow), ...vainExpectations(test)]) {
      throw invalidTest(fault);
    }
  }
}

function vainExpectations({ name, expect }: FlowTest): string[] {
  return expect.flatMap((expectation, index) => {
    const fault = faultOf(expectation);
    return fault === undefined ? [] : [`expectation ${index} of the test “${name}” ${fault}`];
  });
}

/** Nodes that a test names and the flow has not: what was meant to be pinned would really run. */
function lostNodes({ name, pinned, expect }: FlowTest, { nodes }: Flow): string[] {
  const known = new Set(nodes.map(({ id }) => id));
  const named = [...Object.keys(pinned), ...expect.flatMap(({ node }) => node ?? [])];
  return named
    .filter((id) => !known.has(id))
    .map((id) => `the test “${name}” names the node ${id}, which the flow has not`);
}

function invalidTest(message: string): Fault {
  return new Fault('invalid', message, { reason: 'validation_error' });
}

/** Of a node in a loop the output of its last round. */
function outputsOf(runs: readonly NodeRun[]): Record<string, unknown> {
  return Object.fromEntries(
    runs.flatMap(({ nodeId, status, output }) =>
      status === 'completed' ? [[nodeId, output] as const] : [],
    ),
  );
}
