import type { ComponentTable } from '../components/component.ts';
import type { Flow, FlowFault } from './flow.ts';
import { readWholeFlow } from './flow-reading.ts';

/** Every fault of a flow, not only the first; none when it can be run. */
export function checkFlow(flow: Flow, components: ComponentTable): readonly FlowFault[] {
  return readWholeFlow(flow, components).faults.list();
}
