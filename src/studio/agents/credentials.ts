import type { authContract } from '../../auth/contract.ts';
import type { Client } from '../../kit/client.ts';
import { Fault } from '../../kit/errors.ts';

/** An API key of an agent's own. */
export interface AgentKey {
  readonly keyId: string;
  /** Goes to the agent's program and nowhere else. */
  readonly apiKey: string;
}

/** Makes and ends the API keys of agents. */
export interface Credentials {
  /** A further key of the agent; `unavailable` when nobody can make one now. */
  create(agentId: string, options: { readonly endsAtMs?: number | undefined }): Promise<AgentKey>;
  /** With every token that it was traded for; one that is gone already is no error. */
  revoke(keyId: string): Promise<void>;
}

/** What an agent may do in the suite. */
export const agentGrants: readonly string[] = ['mesh:communicate', 'registry:call'];

/** The studio's own name at auth; the subjects of its agents begin with it. */
const studioSubject = 'studio';
const subjectStart = `${studioSubject}-agt-`;
const dayMs = 86_400_000;
const timeoutMs = 10_000;

/** The subject that an agent has everywhere in the suite. */
export function subjectOf(agentId: string): string {
  return `${studioSubject}-${agentId.replace('_', '-')}`;
}

/** The agent that a subject stands for; undefined for all other subjects. */
export function agentIdOf(subject: string): string | undefined {
  return subject.startsWith(subjectStart) ? `agt_${subject.slice(subjectStart.length)}` : undefined;
}

/** Keys that auth makes for the studio's own identity, which needs `auth:delegate`. */
export class AuthCredentials implements Credentials {
  readonly #auth: Pick<Client<typeof authContract>, 'createApiKey' | 'revokeApiKey'>;

  constructor(auth: Pick<Client<typeof authContract>, 'createApiKey' | 'revokeApiKey'>) {
    this.#auth = auth;
  }

  async create(
    agentId: string,
    { endsAtMs }: { readonly endsAtMs?: number | undefined },
  ): Promise<AgentKey> {
    const days = endsAtMs === undefined ? 0 : Math.ceil((endsAtMs - Date.now()) / dayMs) + 1;
    const body = {
      name: `agent ${agentId}`,
      service: subjectOf(agentId),
      permissions: [...agentGrants],
      ...(days > 0 && days <= 3_650 ? { expiresInDays: days } : {}),
    };
    try {
      const { id, api_key } = await this.#auth.createApiKey({ body }, { timeoutMs });
      return { keyId: id, apiKey: api_key };
    } catch (cause) {
      throw new Fault('unavailable', 'the agent could not be given a credential', {
        reason: 'credential_unavailable',
        retryAfter: 2,
        cause,
      });
    }
  }

  async revoke(keyId: string): Promise<void> {
    try {
      await this.#auth.revokeApiKey({ params: { id: keyId } }, { timeoutMs });
    } catch (error) {
      if (Fault.from(error).code !== 'not_found') throw error;
    }
  }
}
