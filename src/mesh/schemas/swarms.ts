import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { AgentId } from './agents.ts';
import { voteValues } from '../swarms/ballot.ts';
import { consensusType, timeoutMsMax } from '../swarms/request.ts';
import { membersMax, swarmStatuses } from '../swarms/swarm.ts';
import { swarmAnswer, swarmStatus, swarmSummary, swarmVoteReceipt } from './swarm-answers.ts';
import { AnyKey } from '../../kit/any-key.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';

const swarmsPath = '/api/v1/swarms';
const communication = 'mesh:communicate';

const agentId = AgentId;
const signature = Type.String({
  pattern: '^[A-Za-z0-9_-]{86}$',
  description: 'an Ed25519 signature over what `ballot` describes, 86 characters of base64url',
});
const vote = Type.Enum(voteValues);
const confidence = Type.Number({
  minimum: 0,
  maximum: 1,
  description: 'told with the vote; it never weighs',
});

const newSwarm = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 200,
      // Half a character is refused too: the database takes none.
      pattern:
        '^(?=.*\\S)(?:[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]|[\\ud800-\\udbff][\\udc00-\\udfff])+$',
    }),
    agents: Type.Array(agentId, {
      minItems: 1,
      maxItems: membersMax,
      description: 'registered agents, each once',
    }),
    consensus: Type.Optional(
      Type.Object({
        type: Type.Optional(Type.Enum([consensusType])),
        threshold: Type.Optional(
          Type.Integer({
            minimum: 1,
            description:
              'how many equal votes decide, where that is more than floor((n + f) / 2) + 1 of n members with f = floor((n - 1) / 3); it can only raise that',
          }),
        ),
        timeout: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: timeoutMsMax,
            default: 30_000,
            description: 'milliseconds until it ends undecided',
          }),
        ),
      }),
    ),
    task: Type.Object(
      {
        type: Type.String({
          minLength: 1,
          maxLength: 128,
          pattern: '^[^\\u0000-\\u001f\\u007f]+$',
        }),
        input: Type.Optional(Type.Record(AnyKey, Type.Unknown())),
      },
      { description: 'what is voted on' },
    ),
  },
  { $id: 'NewSwarm' },
);

const params = Type.Object({
  swarmId: Type.String({ maxLength: 64, pattern: '^[\\w-]+$', description: 'the id of a swarm' }),
});

/** The routes of the swarms. */
export const swarmRoutes = {
  createSwarm: {
    method: 'POST',
    url: swarmsPath,
    summary: 'Have agents decide together',
    description:
      'Each member has one vote, in one round. Members are asked by a task of type `vote` with the input `{swarmId, task, ballot}` and answer `{vote, confidence, signature?}`; they may also vote by themselves. It ends when a value has q votes, or undecided (`timed-out`): after its timeout, or at once when all have voted and none has q. A swarm of fewer than four tolerates no liar, as its answer says. An owner has at most 200 active ones. It can be read for 90 days after its end.',
    permission: communication,
    schema: { body: newSwarm, response: { 201: swarmAnswer } },
  },
  listSwarms: {
    method: 'GET',
    url: swarmsPath,
    summary: 'List the swarms, the newest first',
    schema: {
      query: Type.Object({
        status: Type.Optional(
          Type.Enum(swarmStatuses, { description: 'only swarms that stand so' }),
        ),
        ...pageQuery(),
      }),
      response: {
        200: Type.Object({
          swarms: Type.Array(swarmSummary),
          ...pageAnswer,
        }),
      },
    },
  },
  readSwarmStatus: {
    method: 'GET',
    url: `${swarmsPath}/:swarmId/status`,
    summary: 'Read how a swarm stands',
    schema: { params, response: { 200: swarmStatus } },
  },
  castSwarmVote: {
    method: 'POST',
    url: `${swarmsPath}/:swarmId/votes`,
    summary: 'Vote for an agent, as its owner',
    description:
      'The vote is stored before the answer; the same vote again is answered alike. A different one answers 409 `VOTE_CONFLICT` and is kept as evidence, one after the end 409 `SWARM_ENDED`; neither counts.',
    permission: communication,
    schema: {
      params,
      body: Type.Object(
        {
          agentId,
          vote,
          confidence: Type.Optional(confidence),
          signature: Type.Optional(signature),
        },
        { $id: 'SwarmVote' },
      ),
      response: {
        200: swarmVoteReceipt,
      },
    },
  },
  joinSwarm: {
    method: 'POST',
    url: `${swarmsPath}/:swarmId/join`,
    summary: 'Say that a member takes part, or take a further agent in',
    description:
      'A further agent may join until the first vote, when the swarm’s owner brings it or it is that owner’s own. The quorum grows with it, and `ballot` changes.',
    permission: communication,
    schema: {
      params,
      body: Type.Object({ agentId }, { $id: 'SwarmJoin' }),
      response: { 200: swarmAnswer },
    },
  },
  cancelSwarm: {
    method: 'POST',
    url: `${swarmsPath}/:swarmId/cancel`,
    summary: 'Cancel an active swarm, as its owner',
    permission: communication,
    schema: { params, response: { 200: swarmAnswer } },
  },
} as const satisfies Record<string, Route>;
