import { Compile } from 'typebox/compile';
import { Fault } from '../../kit/errors.ts';
import { findFlaws } from '../../kit/schema-flaws.ts';
import type { ComponentTable } from '../components/component.ts';
import { compilePlan } from '../flow/compile.ts';
import type { Flow, FlowFault } from '../flow/flow.ts';
import type { Plan } from '../flow/plan.ts';
import { flowSchema, readFlow } from '../flow/schema.ts';

/** A flow that holds, or all that is wrong with it. */
export type CompiledFlow =
  | { readonly flow: Flow; readonly plan: Plan; readonly faults: readonly [] }
  | { readonly flow?: undefined; readonly faults: readonly FlowFault[] };

const shape = Compile(flowSchema);

/** Reads and compiles flows over the components that there are. */
export class FlowCompiler {
  readonly #components: ComponentTable;

  constructor(components: ComponentTable) {
    this.#components = components;
  }

  /** Of whatever somebody sent: with its defaults, or with everything that is wrong. */
  read(value: unknown): CompiledFlow {
    if (!shape.Check(value)) return { faults: shapeFaults(value) };
    const flow = readFlow(value);
    try {
      return { flow, plan: this.compile(flow), faults: [] };
    } catch (error) {
      const { faults } = Fault.from(error).detail;
      if (!Array.isArray(faults)) throw error;
      return { faults: faults as readonly FlowFault[] };
    }
  }

  /** Throws `invalid` (`invalid_flow`) when the flow does not hold. */
  compile(flow: Flow): Plan {
    return compilePlan(flow, this.#components);
  }
}

function shapeFaults(value: unknown): FlowFault[] {
  return findFlaws(shape.Errors(value), flowSchema).map(({ place, message }) => {
    const [, list, index] = place.split('/');
    const isEdge = list === 'edges' && index !== undefined;
    return {
      code: 'BAD_SHAPE',
      message: `flow${place.replaceAll('/', '.')} ${message}`,
      ...(isEdge ? { edge: Number(index) } : {}),
      path: place,
    };
  });
}
