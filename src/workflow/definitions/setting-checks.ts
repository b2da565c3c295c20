import type { ComponentTable } from '../components/component.ts';
import type { Flow, FlowFault } from '../flow/flow.ts';

/**
 * What components refuse of their settings beyond what their schemas say. Refused when a flow is
 * saved; flows that were stored run on.
 */
export function findRefusedSettings({ nodes }: Flow, components: ComponentTable): FlowFault[] {
  return nodes.flatMap(({ id: nodeId, type, data }) => {
    const faults = components.get(type)?.check?.(data) ?? [];
    return faults.map(({ path, message }) => ({ code: 'BAD_SETTING', message, path, nodeId }));
  });
}
