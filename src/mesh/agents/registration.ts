import type { Egress } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';
import { hasFiniteNumbers } from '../../kit/finite-numbers.ts';
import { tryParseJsonBody } from '../../kit/http/json-body.ts';
import { isJsonObject } from '../../kit/json-object.ts';
import { isStorable } from '../../kit/storable-json.ts';
import type { AgentEndpoints } from './agent.ts';
import { cardFault, readCard, type CardContent } from './agent-card.ts';
import type { CardFacts, PublicJwk, Registration } from './agent-row.ts';
import { isCardSigned, isPublicSigningKey, type CardJson } from './card-signature.ts';

/** A proof that whoever registers a key holds it. */
export interface KeyProof {
  readonly commitment: string;
  readonly challenge: string;
  readonly response: string;
}

/** What an agent, or somebody for it, sends to register it. */
export interface RegistrationRequest {
  /** May be missing only beside a card, whose name it is then. */
  readonly agentId?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly endpoints?: AgentEndpoints | undefined;
  /** Seconds. */
  readonly heartbeatInterval?: number | undefined;
  readonly idempotent?: boolean | undefined;
  readonly publicKey?: string | undefined;
  readonly keyProof?: KeyProof | undefined;
  readonly voteKey?: string | undefined;
  readonly agentCard?: CardJson | undefined;
  readonly agentCardUrl?: string | undefined;
  /** Pinned: from then on the agent's card must be signed with one of them. */
  readonly cardKeys?: readonly PublicJwk[] | undefined;
}

export interface ReadOptions {
  readonly egress: Pick<Egress, 'checkUrl' | 'fetch'>;
  /** Seconds, for agents that wish for no other. */
  readonly heartbeatInterval: number;
  /** The keys that are pinned for an agent already. */
  readonly pinnedKeys: (agentId: string) => Promise<readonly PublicJwk[] | undefined>;
}

/** `.` and `..` are no names in a path (RFC 3986, section 3.3). */
const idPattern = /^(?!\.{1,2}$)[A-Za-z0-9._:-]{1,128}$/;
const metadataBytesMax = 16 * 1024;
const capabilitiesMax = 100;
const capabilityLengthMax = 128;
const cardBytesMax = 256 * 1024;

/** Checks a registration and fetches its card; whether a key's proof holds is for others to say. */
export async function readRegistration(
  request: RegistrationRequest,
  options: ReadOptions,
): Promise<Registration> {
  const card = await findCard(request, options);
  const content = card && readCard(card);
  const agentId = readId(request, content);
  const facts = await checkCard({ agentId, card, content }, request, options);
  const endpoints = readEndpoints(content, request);
  checkEndpoints(endpoints, options.egress);
  const metadata: Readonly<Record<string, unknown>> = {
    ...(content?.version ? { version: content.version } : {}),
    ...request.metadata,
  };
  checkMetadata(metadata);
  const registration: Registration = {
    agentId,
    capabilities: readCapabilities([
      ...(content?.capabilities ?? []),
      ...(request.capabilities ?? []),
    ]),
    metadata,
    endpoints,
    isIdempotent: request.idempotent ?? metadata['idempotent'] === true,
    heartbeatInterval: request.heartbeatInterval ?? options.heartbeatInterval,
    publicKey: request.publicKey,
    voteKey: request.voteKey,
    cardKeys: request.cardKeys,
    card: facts,
  };
  // One text that the database refuses would fail all that is stored with it.
  if (isStorable(JSON.stringify(registration))) return registration;
  throw new Fault('invalid', 'a text holds half a surrogate pair or U+0000');
}

function readId({ agentId }: RegistrationRequest, content: CardContent | undefined): string {
  const id = agentId ?? content?.name.replaceAll(/[^A-Za-z0-9._:-]+/g, '-').slice(0, 128);
  if (id !== undefined && idPattern.test(id)) return id;
  throw new Fault('invalid', 'agentId must be 1 to 128 letters, digits or any of . _ : -', {
    reason: 'validation_error',
    detail: { param: 'agentId' },
  });
}

function readCapabilities(given: readonly string[]): string[] {
  const capabilities = [...new Set(given)];
  const isFine =
    capabilities.length <= capabilitiesMax &&
    capabilities.every((one) => one.length > 0 && one.length <= capabilityLengthMax);
  if (isFine) return capabilities;
  const limits = `${capabilitiesMax} capabilities of ${capabilityLengthMax} characters each`;
  throw new Fault('invalid', `an agent may have at most ${limits}`, {
    reason: 'validation_error',
    detail: { param: 'capabilities' },
  });
}

function checkMetadata(metadata: Readonly<Record<string, unknown>>): void {
  const detail = { param: 'metadata' };
  if (!hasFiniteNumbers(metadata)) {
    const message = 'a number in metadata is too large';
    throw new Fault('invalid', message, { reason: 'validation_error', detail });
  }
  if (Buffer.byteLength(JSON.stringify(metadata)) <= metadataBytesMax) return;
  throw new Fault('invalid', `metadata may measure at most ${metadataBytesMax} bytes of text`, {
    reason: 'validation_error',
    detail,
  });
}

/** What is said beside a card counts more than the card. */
function readEndpoints(
  content: CardContent | undefined,
  { endpoints }: RegistrationRequest,
): AgentEndpoints {
  if (content && !content.endpoints.a2a && !endpoints) {
    throw cardFault(
      'names no interface of the binding JSONRPC and A2A 0.3 or 1.0, nor is an endpoint given',
    );
  }
  const { grpc, rest, a2a, a2aVersion } = { ...content?.endpoints, ...endpoints };
  return { grpc, rest, a2a, a2aVersion };
}

function checkEndpoints(
  { grpc, rest, a2a }: AgentEndpoints,
  egress: Pick<Egress, 'checkUrl'>,
): void {
  for (const [field, url] of Object.entries({ rest, a2a })) {
    if (url !== undefined) egress.checkUrl(url, { field: `endpoints.${field}` });
  }
  // Paths are appended to it.
  if (rest !== undefined && /[?#]/.test(rest)) {
    throw badEndpoint('rest', 'must have neither a query nor a fragment');
  }
  if (grpc === undefined) return;
  const isAddress = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):\d{1,5}$/.test(grpc);
  const url = `http://${grpc}`;
  if (!isAddress || !URL.canParse(url)) throw badEndpoint('grpc', 'must be host:port');
  egress.checkUrl(url, { field: 'endpoints.grpc' });
}

function badEndpoint(name: 'rest' | 'grpc', rule: string): Fault {
  const param = `endpoints.${name}`;
  return new Fault('invalid', `${param} ${rule}`, {
    reason: 'validation_error',
    detail: { param },
  });
}

async function findCard(
  { agentCard, agentCardUrl }: RegistrationRequest,
  { egress }: ReadOptions,
): Promise<CardJson | undefined> {
  if (agentCardUrl === undefined) return agentCard;
  if (agentCard) throw new Fault('invalid', 'send agentCard or agentCardUrl, not both');
  egress.checkUrl(agentCardUrl, { field: 'agentCardUrl' });
  const answer = await egress.fetch(agentCardUrl, {
    headers: { accept: 'application/json', 'a2a-version': '1.0' },
    responseBytesMax: cardBytesMax,
    isRedirectFollowed: false,
  });
  const card = answer.status === 200 ? tryParseJsonBody(answer.text()) : undefined;
  if (isJsonObject(card)) return card;
  throw new Fault('upstream', 'there is no agent card at agentCardUrl', {
    reason: 'agent_card_unreachable',
  });
}

interface CardCheck {
  readonly agentId: string;
  readonly card: CardJson | undefined;
  readonly content: CardContent | undefined;
}

/** New keys take the place of pinned ones only with a card that a pinned one has signed. */
async function checkCard(
  { agentId, card, content }: CardCheck,
  { cardKeys }: RegistrationRequest,
  { pinnedKeys }: ReadOptions,
): Promise<CardFacts | undefined> {
  if (!card && !cardKeys) return undefined;
  refuseSecretKeys(cardKeys ?? []);
  const pinned = await pinnedKeys(agentId);
  if (!card || !content) {
    if (pinned) throw keysPinned(agentId);
    return undefined;
  }
  const keySets = [pinned, cardKeys].flatMap((keys) => (keys ? [keys] : []));
  for (const keys of keySets) {
    if (!(await isCardSigned(card, keys))) throw notSigned(agentId);
  }
  return { name: content.name, version: content.version, isVerified: keySets.length > 0 };
}

function refuseSecretKeys(keys: readonly PublicJwk[]): void {
  if (keys.every(isPublicSigningKey)) return;
  throw new Fault('invalid', 'cardKeys must be public keys of type EC, OKP or RSA');
}

function notSigned(agentId: string): Fault {
  return new Fault('invalid', 'no key that is pinned for this agent has signed the card', {
    reason: 'card_signature_invalid',
    detail: { agentId },
  });
}

function keysPinned(agentId: string): Fault {
  const message = 'this agent has card keys: send new ones with a card that an old one has signed';
  return new Fault('conflict', message, { reason: 'card_keys_pinned', detail: { agentId } });
}
