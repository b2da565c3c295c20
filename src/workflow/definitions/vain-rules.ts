import type { ComponentTable } from '../components/component.ts';
import type { Flow, FlowFault } from '../flow/flow.ts';

/**
 * Rules for failures that nothing would keep: a Loop or a Parallel is not run itself, the nodes that it
 * runs are, and theirs hold. Refused when a flow is saved; flows that were stored run on. Any node may
 * have a `retry`: of these two it never comes to one.
 */
export function findVainRules({ nodes }: Flow, components: ComponentTable): FlowFault[] {
  return nodes.flatMap(({ id: nodeId, type, timeout, onError }) => {
    if (!components.get(type)?.control) return [];
    const names = [
      ...(timeout === undefined ? [] : ['timeout']),
      ...(onError === 'continue' ? ['onError'] : []),
    ];
    return names.map((name) => ({
      code: 'BAD_SETTING',
      message: `a ${type} has no ${name} of its own: give it to the nodes that it runs`,
      nodeId,
    }));
  });
}
