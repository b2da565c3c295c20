import { Type } from 'typebox';
import type { Bus } from '../../kit/bus/bus.ts';
import { openBus } from '../../kit/bus/open-bus.ts';
import type { Database } from '../../kit/database/database.ts';
import { emptySchema, openTestDatabase } from '../../kit/database/testing.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { Metrics } from '../../kit/metrics.ts';
import { silentLog } from '../../kit/testing.ts';
import { Tracer, type SpanRecord } from '../../kit/trace/trace.ts';
import type { Component, NodeContext, NodeOutcome } from '../components/component.ts';
import type { Flow, FlowEdge, FlowNode, FlowSettings, Scope } from '../flow/flow.ts';
import type { Plan, PlannedEdge, PlannedNode } from '../flow/plan.ts';
import { openEngine } from './engine.ts';
import type { EngineOptions } from './engine-options.ts';
import type { StartRequest } from './execution.ts';
import { isErrorEdge } from './walk/walk-edges.ts';

const tables = new URL('../migrations/', import.meta.url);

/** What a node of a test does; `effect` is `once` unless told. */
export interface TestComponent extends Partial<Omit<Component, 'run'>> {
  readonly run?: (
    data: Readonly<Record<string, unknown>>,
    context: NodeContext,
  ) => Promise<NodeOutcome> | NodeOutcome;
}

/** A component of a test under a name. */
export function makeComponent(name: string, given: TestComponent = {}): Component {
  const { run = () => ({ kind: 'done', output: name }), ...rest } = given;
  return {
    name,
    group: 'logic',
    title: name,
    description: name,
    input: Type.Object({}, { additionalProperties: true }),
    output: Type.Unknown(),
    effect: 'once',
    typicalMs: 1,
    ...rest,
    run: async (data, context) => run(data, context),
  };
}

/** Nodes by id: their component and what else they have; edges as `a>b`, `a:handle>b`. */
export interface TestFlow {
  readonly nodes: Readonly<
    Record<string, Component | (Partial<FlowNode> & { component: Component })>
  >;
  readonly edges: readonly (string | (FlowEdge & { isOpen?: (scope: Scope) => boolean }))[];
  readonly settings?: FlowSettings;
  /** Parallels that nodes refer to, by node. */
  readonly references?: Readonly<Record<string, readonly string[]>>;
}

type TestEdge = FlowEdge & { readonly isOpen?: (scope: Scope) => boolean };

/**
 * A plan as the compiler makes it, without expressions: a function in `data` is called with the scope.
 */
export function makePlan({ nodes, edges, settings = {}, references = {} }: TestFlow): Plan {
  const allEdges: TestEdge[] = edges.map((edge) =>
    typeof edge === 'string' ? readEdge(edge) : edge,
  );
  const components = new Map<string, Component>();
  const flowNodes: FlowNode[] = Object.entries(nodes).map(([id, given]) => {
    const { component, ...node } = 'component' in given ? given : { component: given };
    components.set(id, component);
    return { id, type: component.name, data: {}, ...node };
  });
  const loops = findLoops(allEdges, components);
  const planned = new Map<string, PlannedNode>();
  for (const node of flowNodes) {
    const component = components.get(node.id);
    if (!component) throw new Error('a node of a test has a component');
    planned.set(node.id, planNode({ node, component, allEdges, loops, references }));
  }
  const flow: Flow = { nodes: flowNodes, edges: allEdges, settings };
  const outside = [...planned.values()].filter(({ loopId }) => loopId === undefined);
  return {
    flow,
    nodes: planned,
    roots: outside.filter(({ incoming }) => incoming.length === 0).map(({ node }) => node.id),
    ends: outside
      .filter(({ outgoing, body }) =>
        outgoing.every(({ target }) => body?.nodeIds.includes(target)),
      )
      .map(({ node }) => node.id),
  };
}

function planNode(given: {
  node: FlowNode;
  component: Component;
  allEdges: readonly TestEdge[];
  loops: ReadonlyMap<string, string>;
  references: Readonly<Record<string, readonly string[]>>;
}): PlannedNode {
  const { node, component, allEdges, loops, references } = given;
  const loopId = loops.get(node.id);
  const isBack = ({ source, target }: TestEdge) => isWithin(loops, source, target);
  const incoming = allEdges.filter((edge) => edge.target === node.id && !isBack(edge));
  const outgoing = allEdges.filter(({ source }) => source === node.id).map(planEdge);
  const bodyIds = [...loops].filter(([, loop]) => loop === node.id).map(([id]) => id);
  const back = allEdges.filter((edge) => edge.target === node.id && isBack(edge)).map(planEdge);
  return {
    node,
    component,
    incoming: incoming.map(planEdge),
    outgoing,
    references: references[node.id] ?? [],
    ...(loopId === undefined ? {} : { loopId }),
    ...(component.control === 'loop' ? { body: { nodeIds: bodyIds, back } } : {}),
    ...(component.control === 'parallel'
      ? { tasks: outgoing.filter((edge) => !isErrorEdge(edge)).map(({ target }) => target) }
      : {}),
    render: (scope, inputs) =>
      Object.fromEntries(
        Object.entries({ ...node.data, ...inputs }).map(([key, value]) => [
          key,
          typeof value === 'function' ? value(scope) : value,
        ]),
      ),
  };
}

function planEdge({ isOpen = () => true, ...edge }: TestEdge): PlannedEdge {
  return { ...edge, isOpen };
}

function readEdge(text: string): TestEdge {
  const [from = '', target = ''] = text.split('>');
  const [source = '', sourceHandle] = from.split(':');
  return { source, target, ...(sourceHandle === undefined ? {} : { sourceHandle }) };
}

function isWithin(loops: ReadonlyMap<string, string>, nodeId: string, loopId: string): boolean {
  const own = loops.get(nodeId);
  return own !== undefined && (own === loopId || isWithin(loops, own, loopId));
}

/** The innermost loop of each node that lies on a way from a Loop back to it. */
function findLoops(
  edges: readonly FlowEdge[],
  components: ReadonlyMap<string, Component>,
): Map<string, string> {
  const reach = (from: string, isForward: boolean, stop: string): Set<string> => {
    const seen = new Set<string>();
    const next = [from];
    for (let at = next.pop(); at !== undefined; at = next.pop()) {
      for (const { source, target, sourceHandle } of edges) {
        if (source === stop && sourceHandle === 'done') continue;
        const [here, there] = isForward ? [source, target] : [target, source];
        if (here !== at || seen.has(there) || there === stop) continue;
        seen.add(there);
        next.push(there);
      }
    }
    return seen;
  };
  const bodies = [...components]
    .filter(([, { control }]) => control === 'loop')
    .map(([id]) => {
      const ahead = reach(id, true, id);
      const behind = reach(id, false, id);
      return { id, body: [...ahead].filter((node) => behind.has(node)) };
    })
    .toSorted((a, b) => b.body.length - a.body.length);
  return new Map(bodies.flatMap(({ id, body }) => body.map((node) => [node, id] as const)));
}

/** A database with this area's tables and a bus, for one or more engines. */
export async function openEngineGround() {
  const lifetime = new Lifetime(silentLog);
  const database = lifetime.own('the database', await openTestDatabase());
  await emptySchema(database, 'workflow', tables);
  const bus = lifetime.own('the bus', await openBus({ log: silentLog }));
  const plans = new Map<string, Plan>();
  return {
    database,
    bus,
    plans,
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

export type EngineGround = Awaited<ReturnType<typeof openEngineGround>>;

/** An engine on a ground; two on one ground are two replicas. */
export async function openTestEngine(
  ground: Pick<EngineGround, 'plans'> & {
    readonly database: Pick<Database, 'query'>;
    readonly bus: Bus;
  },
  options: Partial<EngineOptions> = {},
) {
  const spans: SpanRecord[] = [];
  const metrics = new Metrics();
  const engine = await openEngine({
    sql: ground.database,
    bus: ground.bus,
    plans: {
      load: async (workflowId, version = 1) => {
        const plan = ground.plans.get(workflowId);
        if (!plan) throw new Error(`no plan ${workflowId}`);
        return { version, plan };
      },
    },
    sealer: {
      seal: (plain) => Buffer.from(plain).toString('base64'),
      unseal: (sealed) => Buffer.from(sealed, 'base64'),
    },
    tracer: new Tracer((span) => spans.push(span)),
    log: silentLog,
    metrics,
    isAlone: false,
    ...options,
  });
  /** Starts and waits for the end. */
  const run = async (workflowId: string, request: Partial<StartRequest> = {}) => {
    const { id } = await engine.start(startOf(workflowId, request));
    return engine.wait(id, { timeoutMs: 20_000 });
  };
  return { engine, run, spans, metrics };
}

/** A start by `usr_test` over the API. */
export function startOf(workflowId: string, request: Partial<StartRequest> = {}): StartRequest {
  return { workflowId, inputs: {}, ownerId: 'usr_test', trigger: 'api', ...request };
}
