import type { Agent } from '../agents/agent.ts';
import type { AgentSource } from './agent-source.ts';
import { takeChallenge, type Challenge, type ChallengeSql } from './challenge-store.ts';
import type { ProofChecker } from './proof-checker.ts';
import type { Proof } from './schnorr.ts';

/** A proof as it was sent. */
export interface GivenProof extends Proof {
  /** `zero-knowledge` */
  readonly type: string;
  readonly nonce?: string | undefined;
  readonly issuedAt?: string | undefined;
  readonly expiresAt?: string | undefined;
  /** Of the interactive form; the empty text is none. */
  readonly challengeId?: string | undefined;
}

/** What an agent wants attested. */
export interface AttestationRequest {
  readonly agentId: string;
  readonly capability: string;
  readonly proof: GivenProof;
}

/** Why nothing was attested. */
export type Refusal =
  | 'unknown_agent'
  | 'no_key'
  | 'unknown_type'
  | 'bad_encoding'
  | 'not_in_time'
  | 'unknown_challenge'
  | 'not_proved'
  | 'commitment_used';

/** An agent that has proved what it said, with the key that it did it with. */
export interface Proved {
  readonly agent: Agent;
  readonly publicKey: string;
}

export interface JudgeOptions {
  readonly sql: ChallengeSql;
  readonly agents: AgentSource;
  readonly checker: Pick<ProofChecker, 'check'>;
  readonly now: () => number;
}

const encoded = /^0x[0-9a-f]{64}$/;
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;
/** By how much clocks may differ. */
const skewMs = 60_000;

/** Judges a proof in everything but whether it was accepted before. A challenge that it names is spent. */
export async function judge(
  request: AttestationRequest,
  options: JudgeOptions,
): Promise<Proved | Refusal> {
  const { proof, agentId } = request;
  // Before anything else, so that no challenge has two attempts.
  const challenge = proof.challengeId
    ? await takeChallenge(options.sql, proof.challengeId)
    : undefined;
  const agent = await options.agents.seek(agentId);
  if (!agent) return 'unknown_agent';
  const { publicKey } = agent;
  if (publicKey === undefined) return 'no_key';
  const proved = { agent, publicKey };
  const flaw = flawOf(proof, options.now());
  if (flaw) return flaw;
  if (proof.challengeId) {
    const isOpen = challenge !== undefined && challenge.expiresAt.getTime() > options.now();
    if (!isOpen || !isFor(challenge, request, publicKey)) return 'unknown_challenge';
  }
  return (await isProved({ request, publicKey }, options)) ? proved : 'not_proved';
}

function isProved(
  { request, publicKey }: { readonly request: AttestationRequest; readonly publicKey: string },
  { checker }: JudgeOptions,
): Promise<boolean> {
  const { agentId, capability, proof: given } = request;
  const { commitment, challenge, response, nonce, issuedAt, expiresAt, challengeId } = given;
  const proof = { commitment, challenge, response };
  if (challengeId) return checker.check({ kind: 'answer', publicKey, proof });
  const statement = { agentId, capability, nonce, issuedAt, expiresAt };
  return checker.check({ kind: 'statement', publicKey, statement, proof });
}

/** What is wrong with a proof before any arithmetic. */
function flawOf(proof: GivenProof, nowMs: number): Refusal | undefined {
  if (proof.type !== 'zero-knowledge') return 'unknown_type';
  const { commitment, challenge, response, issuedAt, expiresAt } = proof;
  if (![commitment, challenge, response].every((text) => encoded.test(text))) return 'bad_encoding';
  // A time that cannot be read cannot be kept to.
  const isBegun = !issuedAt || readTime(issuedAt) <= nowMs + skewMs;
  const isGood = !expiresAt || readTime(expiresAt) > nowMs;
  return isBegun && isGood ? undefined : 'not_in_time';
}

/** Milliseconds of an ISO 8601 time or of Unix seconds; NaN for any other text. */
function readTime(text: string): number {
  if (/^\d{1,11}$/.test(text)) return Number(text) * 1_000;
  return isoTime.test(text) ? Date.parse(text) : Number.NaN;
}

function isFor(
  challenge: Challenge,
  { agentId, capability, proof }: AttestationRequest,
  publicKey: string,
): boolean {
  return (
    challenge.agentId === agentId &&
    challenge.capability === capability &&
    challenge.publicKey === publicKey &&
    challenge.commitment === proof.commitment &&
    challenge.challenge === proof.challenge
  );
}
