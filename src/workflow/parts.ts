import { join } from 'node:path';
import { openTogether, type Lifetime } from '../kit/lifecycle.ts';
import type { McpEndpoint } from '../kit/mcp/endpoint.ts';
import { Metrics } from '../kit/metrics.ts';
import { openSealer, type Sealer } from '../kit/secrets/sealing.ts';
import type { Host } from '../kit/service.ts';
import { Batches } from './batches/batches.ts';
import { batchTopic, type BatchNews } from './batches/batch.ts';
import { Callbacks } from './callbacks/callbacks.ts';
import type { Collections } from './collections/collections.ts';
import { openComponentParts, type LateParts } from './component-parts.ts';
import type { ComponentTable } from './components/component.ts';
import type { WorkflowConfig } from './config.ts';
import { openDefinitionParts, type DefinitionParts } from './definition-parts.ts';
import { Approvals } from './engine/approvals.ts';
import { WorkflowEngine } from './engine/engine.ts';
import type { EngineOptions } from './engine/engine-options.ts';
import { statusOf } from './engine/execution-answers.ts';
import type { Execution } from './engine/execution.ts';
import { readExecution } from './engine/journal/executions-store.ts';
import { callbacksOf } from './engine/requests.ts';
import { FlowTests } from './definitions/flow-tests.ts';
import { MeasuredTimes } from './definitions/measured-times.ts';
import { WorkloadGauge } from './definitions/workload.ts';
import { hasWorkflow } from './definitions/workflow-store.ts';
import { holdsCel } from './definitions/cel-expectation.ts';
import { Interop } from './interop/interop.ts';
import { later } from './later.ts';
import { createMcpEndpoint } from './tools/endpoint.ts';
import { Triggers } from './triggers/triggers.ts';

/** The service's parts, put together; disposing them ends what they do. */
export interface WorkflowParts extends DefinitionParts, AsyncDisposable {
  readonly host: Host<WorkflowConfig>;
  readonly components: ComponentTable;
  readonly collections: Collections;
  readonly engine: WorkflowEngine;
  readonly approvals: Approvals;
  readonly callbacks: Callbacks;
  readonly batches: Batches;
  readonly triggers: Triggers;
  readonly interop: Interop;
  /** Active workflows as tools. */
  readonly mcp: McpEndpoint;
  readonly tests: FlowTests;
  readonly times: MeasuredTimes;
  readonly workload: WorkloadGauge;
  readonly metrics: Metrics;
  /** The WebSocket address of an execution's or a batch's stream. */
  readonly streamUrl: (path: `executions/${string}` | `batches/${string}`) => string;
}

/** Opens everything; rejects when the database, the bus or the key file does not allow it. */
export function openParts(host: Host<WorkflowConfig>): Promise<WorkflowParts> {
  return openTogether(host.log, (lifetime) => open(host, lifetime));
}

async function open(host: Host<WorkflowConfig>, lifetime: Lifetime) {
  const { database: sql, bus } = host;
  const late: LateParts = {
    engine: later('the engine'),
    approvals: later('the approvals'),
    definitions: later('the definitions'),
  };
  const sealer = await openKeyFile(host);
  const { components, collections } = openComponentParts(host, late, lifetime);
  const defined = await openDefinitionParts({ sql, bus, sealer, components }, lifetime);
  const metrics = new Metrics();
  const { plans, definitions } = defined;
  late.definitions.set(definitions);
  const engine = openEngine(host, { plans, sealer, metrics });
  late.engine.set(engine);
  const approvals = new Approvals({ engine, sealer, baseUrl: host.url });
  late.approvals.set(approvals);
  const running = openRunning(host, { ...defined, engine, sealer });
  const { version } = host.health();
  const tools = { catalog: defined.catalog, plans, engine };
  const mcp = lifetime.own('the tools', createMcpEndpoint(tools, host, version));
  const times = new MeasuredTimes(sql);
  listen({ ...running, engine, times });
  await startAll({ ...running, engine }, lifetime);
  const tests = new FlowTests({ sql, definitions, engine, holdsCel });
  return {
    ...defined,
    ...running,
    host,
    components,
    collections,
    engine,
    approvals,
    interop: new Interop({ ...defined, tests }),
    mcp,
    tests,
    times,
    workload: new WorkloadGauge(sql),
    metrics,
    streamUrl: streamsOf(host),
  };
}

/** Every workflow holds something sealed, so that a new key may be made only where there is none. */
async function openKeyFile({ database, dataFolder }: Host<WorkflowConfig>): Promise<Sealer> {
  const mayCreate = !(await hasWorkflow(database));
  return openSealer({ folder: join(dataFolder, 'secrets'), mayCreate });
}

function openEngine(
  { database: sql, bus, tracer, log, config, graceMs }: Host<WorkflowConfig>,
  parts: Pick<EngineOptions, 'plans' | 'sealer' | 'metrics'>,
): WorkflowEngine {
  const { concurrency, nodesMax, nodeRunsMax } = config;
  const isAlone = sql.dialect === 'pglite';
  const bounds = { concurrency, nodesMax, nodeRunsMax };
  return new WorkflowEngine({ ...parts, ...bounds, sql, bus, tracer, log, isAlone, graceMs });
}

type Streams = WorkflowParts['streamUrl'];

function streamsOf({ url }: Host<WorkflowConfig>): Streams {
  return (path) => `${url.replace(/^http/, 'ws')}/api/v1/${path}/stream`;
}

interface Ground extends DefinitionParts {
  readonly engine: WorkflowEngine;
  readonly sealer: Sealer;
}

/** What starts executions, and what tells of their ends. */
function openRunning(host: Host<WorkflowConfig>, { engine, plans, secrets, sealer }: Ground) {
  const { database: sql, bus, log, egress } = host;
  const callbacks = new Callbacks({
    sql,
    egress,
    sealer,
    log,
    callbacksOf: async (executionId) => {
      const stored = await readExecution(sql, executionId);
      return stored && callbacksOf(stored, sealer);
    },
    statusOf: (execution) => statusOf(engine, execution),
    secretOf: (workflowId) => secrets.signing(workflowId),
  });
  const streamUrl = streamsOf(host);
  const batches = new Batches({
    sql,
    engine,
    plans,
    callbacks,
    sealer,
    topic: bus.topic<BatchNews>(batchTopic),
    log,
    monitorUrlOf: (batchId) => streamUrl(`batches/${batchId}`),
    isAlone: sql.dialect === 'pglite',
  });
  const triggers = new Triggers({ sql, engine, plans, sealer, bus, log });
  return { callbacks, batches, triggers };
}

type Running = Pick<WorkflowParts, 'engine' | 'callbacks' | 'batches' | 'triggers'>;

function listen({
  engine,
  callbacks,
  triggers,
  batches,
  times,
}: Running & Pick<WorkflowParts, 'times'>): void {
  engine.onEnded(async (execution: Execution) => {
    times.ended(execution);
    if (execution.callbacks) await callbacks.noteEnded(execution);
    await batches.noteEnded(execution);
    await triggers.noteEnded(execution);
  });
}

/** In this order, because each tells the ones before of what it finds; they end in reverse. */
async function startAll(
  { callbacks, engine, batches, triggers }: Running,
  lifetime: Lifetime,
): Promise<void> {
  lifetime.own('the callbacks', callbacks);
  callbacks.start();
  lifetime.own('the engine', engine);
  await engine.open();
  lifetime.own('the batches', batches);
  await batches.start();
  lifetime.own('the triggers', triggers);
  await triggers.start();
}
