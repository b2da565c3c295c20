import type { V1ContainerState, V1Pod } from '@kubernetes/client-node';
import type { FailureReason } from '../../agents/agent.ts';
import type { RuntimeEnd } from '../runtime.ts';

/** How a pod ended, or why it never begins; undefined while it runs or may still begin. */
export function endOfPod({ status }: V1Pod): RuntimeEnd | undefined {
  const [container] = status?.containerStatuses ?? [];
  const end = container?.state && endOfContainer(container.state);
  if (end) return end;
  const hasEnded = status?.phase === 'Failed' || status?.phase === 'Succeeded';
  // Evicted, or its node is gone.
  return hasEnded ? { exitCode: null, signal: null, reason: 'lost' } : undefined;
}

function endOfContainer({ terminated, waiting }: V1ContainerState): RuntimeEnd | undefined {
  const reason = reasons[terminated?.reason ?? waiting?.reason ?? ''];
  const known = reason === undefined ? {} : { reason };
  if (!terminated) return reason && { exitCode: null, signal: null, ...known };
  const { exitCode, signal } = terminated;
  return { exitCode, signal: signal === undefined ? null : String(signal), ...known };
}

const reasons: Readonly<Record<string, FailureReason>> = {
  OOMKilled: 'out_of_memory',
  ErrImagePull: 'image_missing',
  ImagePullBackOff: 'image_missing',
  ErrImageNeverPull: 'image_missing',
  InvalidImageName: 'image_missing',
};
