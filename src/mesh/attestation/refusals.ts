import { Fault } from '../../kit/errors.ts';
import type { Attestation } from './attestation.ts';

/** `agent_not_found`. */
export function unknownAgent(agentId: string): Fault {
  const reason = 'agent_not_found';
  return new Fault('not_found', 'there is no such agent', { reason, detail: { agentId } });
}

/** `agent_key_missing`: the agent is there and can prove nothing. */
export function keyMissing(agentId: string): Fault {
  const reason = 'agent_key_missing';
  return new Fault('conflict', 'the agent has no key', { reason, detail: { agentId } });
}

/** `invalid_commitment`: no proof can be made of it. */
export function noCommitment(): Fault {
  const message = 'the commitment is no encoding of a ristretto255 element';
  return new Fault('invalid', message, {
    reason: 'invalid_commitment',
    detail: { param: 'commitment' },
  });
}

/** `attestation_not_found`. */
export function unknownAttestation(attestationId: string): Fault {
  const reason = 'attestation_not_found';
  return new Fault('not_found', 'there is no such attestation', {
    reason,
    detail: { attestationId },
  });
}

/** `not_agent_owner`. */
export function notTheOwner({ attestationId, agentId }: Attestation): Fault {
  return new Fault('forbidden', 'only the agent and its owner revoke its attestations', {
    reason: 'not_agent_owner',
    detail: { attestationId, agentId },
  });
}
