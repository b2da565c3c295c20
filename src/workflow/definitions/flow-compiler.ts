import { Fault } from '../../kit/errors.ts';
import type { ComponentTable } from '../components/component.ts';
import { compilePlan } from '../flow/compile.ts';
import type { Flow, FlowFault } from '../flow/flow.ts';
import type { Plan } from '../flow/plan.ts';
import { readFlow, type FlowInput } from '../flow/schema.ts';
import { readShape } from './flow-shape.ts';
import { findRefusedSettings } from './setting-checks.ts';

/** A flow that holds, or all that is wrong with it. */
export type CompiledFlow =
  | { readonly flow: Flow; readonly plan: Plan; readonly faults: readonly [] }
  | { readonly flow?: undefined; readonly faults: readonly FlowFault[] };

/** Reads and compiles flows over the components that there are. */
export class FlowCompiler {
  readonly #components: ComponentTable;

  constructor(components: ComponentTable) {
    this.#components = components;
  }

  /** Of whatever somebody sent: with its defaults, or with everything that is wrong. */
  read(value: unknown): CompiledFlow {
    const { faults, flow } = readShape(value);
    if (!flow) return { faults };
    const compiled = this.#compileInput(flow);
    return faults.length > 0 ? { faults: [...faults, ...compiled.faults] } : compiled;
  }

  /** Throws `invalid` (`invalid_flow`) when the flow does not hold. */
  compile(flow: Flow): Plan {
    return compilePlan(flow, this.#components);
  }

  #compileInput(input: FlowInput): CompiledFlow {
    const flow = readFlow(input);
    const refused = findRefusedSettings(flow, this.#components);
    try {
      const plan = this.compile(flow);
      return refused.length > 0 ? { faults: refused } : { flow, plan, faults: [] };
    } catch (error) {
      const { faults } = Fault.from(error).detail;
      if (!Array.isArray(faults)) throw error;
      return { faults: [...(faults as readonly FlowFault[]), ...refused] };
    }
  }
}
