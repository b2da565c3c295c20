import { Type, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { findFlaws } from '../../kit/schema-flaws.ts';
import type { FlowFault } from '../flow/flow.ts';
import { flowLimits } from '../flow/limits.ts';
import {
  edgeSchema,
  flowSchema,
  nodeSchema,
  settingsSchema,
  type FlowInput,
} from '../flow/schema.ts';

/** What is wrong with the shape of a flow, and the flow without that where it still says enough. */
export interface ShapeReading {
  readonly faults: readonly FlowFault[];
  readonly flow: FlowInput | undefined;
}

const whole = Compile(flowSchema);
const lists = Compile(
  Type.Object({
    nodes: Type.Array(Type.Unknown()),
    edges: Type.Optional(Type.Array(Type.Unknown())),
  }),
);

/** A kind of part, and its fields without which all else can still be judged. */
const node = partKind(nodeSchema, ['label', 'position', 'retry', 'timeout']);
const edge = partKind(edgeSchema, ['sourceHandle', 'targetHandle', 'condition']);
const settings = partKind(settingsSchema, ['timeout', 'maxTokens', 'maxCost']);

/** Reads whatever somebody sent, part by part where it does not fit. */
export function readShape(value: unknown): ShapeReading {
  if (whole.Check(value)) return { faults: [], flow: value };
  // Nobody reads the faults of a flow that is too large, and to find them takes long.
  if (!lists.Check(value) || isTooLarge(value)) {
    return { faults: flawsOf(value, { schema: flowSchema, shape: whole }), flow: undefined };
  }
  const { settings: given = {} } = value as { readonly settings?: unknown };
  const nodes = value.nodes.map((one, index) => readPart(one, `/nodes/${index}`, node));
  const edges = (value.edges ?? []).map((one, index) => ({
    ...readPart(one, `/edges/${index}`, edge),
    index,
  }));
  const own = readPart(given, '/settings', settings);
  const faults = [
    ...nodes.flatMap((part) => part.faults),
    ...edges.flatMap((part) => part.faults.map((fault) => ({ ...fault, edge: part.index }))),
    ...own.faults,
  ].slice(0, flowLimits.faults);
  const rest = { nodes: restOf(nodes), edges: restOf(edges), settings: own.rest };
  return { faults, flow: whole.Check(rest) ? rest : undefined };
}

function restOf(parts: readonly PartReading[]): unknown[] {
  return parts.map(({ rest }) => rest);
}

function isTooLarge({
  nodes,
  edges = [],
}: {
  readonly nodes: readonly unknown[];
  readonly edges?: readonly unknown[];
}): boolean {
  return nodes.length > flowLimits.nodes || edges.length > flowLimits.edges;
}

interface PartReading {
  readonly faults: readonly FlowFault[];
  /** Without what is wrong; undefined where nothing can be left out. */
  readonly rest: unknown;
}

type Shape = Pick<typeof whole, 'Errors'>;

interface PartKind {
  readonly schema: TSchema;
  readonly shape: Shape & { readonly Check: (value: unknown) => boolean };
  readonly separable: ReadonlySet<string>;
}

function partKind(schema: TSchema, separable: readonly string[]): PartKind {
  return { schema, shape: Compile(schema), separable: new Set(separable) };
}

function readPart(given: unknown, place: string, kind: PartKind): PartReading {
  if (kind.shape.Check(given)) return { faults: [], rest: given };
  const faults = flawsOf(given, kind, place);
  const names = faults.map(({ path = '' }) => path.slice(place.length).split('/')[1] ?? '');
  if (!names.every((name) => kind.separable.has(name))) return { faults, rest: undefined };
  const fields = Object.entries(given as object).filter(([name]) => !names.includes(name));
  return { faults, rest: Object.fromEntries(fields) };
}

function flawsOf(
  value: unknown,
  { schema, shape }: { readonly schema: TSchema; readonly shape: Shape },
  within = '',
): FlowFault[] {
  return findFlaws(shape.Errors(value), schema).map((flaw) => {
    const path = within + flaw.place;
    const message = `flow${path.replaceAll('/', '.')} ${flaw.message}`;
    return { code: 'BAD_SHAPE', message, path };
  });
}
