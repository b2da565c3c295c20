import type { InputOf } from '../api/contracts.ts';
import { namesIn, readObject } from '../ui/entry-text.ts';

/** The registration form as it is written. */
export interface RegistrationDraft {
  readonly agentId: string;
  /** Names between commas or on lines. */
  readonly capabilities: string;
  /** Where it is reached; none means that it comes for its tasks. */
  readonly kind: 'inbox' | 'rest' | 'grpc' | 'a2a' | 'card';
  readonly address: string;
  /** JSON, or nothing. */
  readonly metadata: string;
  readonly heartbeatInterval: string;
  readonly isIdempotent: boolean;
}

export type Registration = NonNullable<InputOf<'mesh', 'POST /api/v1/agents/register'>['body']>;

/** What is sent for a draft; throws a sentence where the draft itself cannot be read. */
export function registrationOf(draft: RegistrationDraft): Registration {
  const { agentId, kind, metadata, heartbeatInterval } = draft;
  const address = draft.address.trim();
  const capabilities = namesIn(draft.capabilities);
  return {
    ...(agentId.trim() ? { agentId: agentId.trim() } : {}),
    ...(kind === 'card' && capabilities.length === 0 ? {} : { capabilities }),
    ...(kind === 'card' ? { agentCardUrl: address } : {}),
    ...(kind === 'rest' || kind === 'grpc' || kind === 'a2a'
      ? { endpoints: { [kind]: address } }
      : {}),
    ...(metadata.trim() ? { metadata: readObject(metadata, 'the metadata') } : {}),
    ...(heartbeatInterval ? { heartbeatInterval: Number(heartbeatInterval) } : {}),
    ...(draft.isIdempotent ? { idempotent: true } : {}),
  };
}
