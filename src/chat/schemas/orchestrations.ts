import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { AnyKey } from '../../kit/any-key.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';

/** What starts an orchestration: any one of them. */
export const orchestrating = ['agent:execute', 'mesh:communicate'] as const;

export const orchestrationLimits = {
  taskLengthMax: 100_000,
  agentsMax: 100,
  agentLengthMax: 128,
  timeoutMsDefault: 5 * 60_000,
  timeoutMsMax: 60 * 60_000,
} as const;

const { taskLengthMax, agentsMax, agentLengthMax, timeoutMsDefault, timeoutMsMax } =
  orchestrationLimits;
const time = Type.String({ format: 'date-time' });
const stepStatus = Type.Enum(['pending', 'running', 'completed', 'failed', 'cancelled']);
const status = Type.Enum(['running', 'completed', 'partial', 'failed', 'cancelled'], {
  description: '`partial`: some agents completed their part and others did not',
});

const request = Type.Object(
  {
    task: Type.String({ minLength: 1, maxLength: taskLengthMax, pattern: '\\S' }),
    agents: Type.Array(Type.String({ minLength: 1, maxLength: agentLengthMax }), {
      minItems: 1,
      maxItems: agentsMax,
      description:
        'each the id of an agent, a capability, or an agent’s name; each is a part of its own, in this order, also where it names an agent again',
    }),
    context: Type.Optional(
      Type.Record(AnyKey, Type.Unknown(), { description: 'goes to each agent' }),
    ),
    options: Type.Optional(
      Type.Object({
        parallel: Type.Optional(
          Type.Boolean({
            default: true,
            description:
              'at once, 16 at a time; false: one after the other in the order of `agents`, each with the results so far as `context.results`',
          }),
        ),
        timeout: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: timeoutMsMax,
            default: timeoutMsDefault,
            description: 'milliseconds for the whole; what has ended by then is kept',
          }),
        ),
      }),
    ),
  },
  { $id: 'OrchestrationRequest' },
);

const agentPart = Type.Object({ id: Type.String(), name: Type.String(), status: stepStatus });

const started = Type.Object(
  {
    orchestration_id: Type.String(),
    status,
    agents: Type.Array(agentPart),
    progress_url: Type.String({ description: 'a path of this service' }),
  },
  { $id: 'StartedOrchestration' },
);

const failure = Type.Object({ code: Type.String(), message: Type.String() });

const orchestration = Type.Object(
  {
    orchestration_id: Type.String(),
    status,
    progress: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'how many of the agents’ parts have ended, however',
    }),
    task: Type.String(),
    agents: Type.Array(
      Type.Object({
        ...agentPart.properties,
        task_id: Type.Optional(Type.String({ description: 'the mesh’s task' })),
        started_at: Type.Optional(time),
        ended_at: Type.Optional(time),
      }),
    ),
    results: Type.Array(
      Type.Object({
        agent_id: Type.String(),
        name: Type.String(),
        status: stepStatus,
        result: Type.Optional(Type.Unknown({ description: 'what the agent answered' })),
        error: Type.Optional(failure),
      }),
      { description: 'of the parts that have ended, in the order of `agents`' },
    ),
    created_at: time,
    ended_at: Type.Optional(time),
  },
  { $id: 'Orchestration' },
);

const summary = Type.Object({
  orchestration_id: Type.String(),
  status,
  progress: Type.Number({ minimum: 0, maximum: 1 }),
  task: Type.String(),
  agents: Type.Array(agentPart),
  created_at: time,
  ended_at: Type.Optional(time),
});

const params = Type.Object({
  id: Type.String({ pattern: '^[A-Za-z0-9._:-]{1,128}$', description: 'of an orchestration' }),
});

/** Tasks for several agents together. */
export const orchestrationRoutes = {
  startOrchestration: {
    method: 'POST',
    url: '/api/agents/orchestrate',
    summary: 'Have several agents of the mesh do a task together',
    description:
      'Answers once the orchestration is stored; it goes on without its caller, also after a crash. 404 `AGENT_NOT_FOUND` when nobody answers to one of the names, 503 when the mesh is away.',
    permission: orchestrating,
    schema: { body: request, response: { 200: started } },
  },
  readOrchestration: {
    method: 'GET',
    url: '/api/agents/orchestrate/:id/progress',
    summary: 'Read how an orchestration of one’s own stands, and its results so far',
    schema: { params, response: { 200: orchestration } },
  },
  cancelOrchestration: {
    method: 'DELETE',
    url: '/api/agents/orchestrate/:id',
    summary: 'Call off what has not ended of an orchestration',
    description: 'What has ended stays; one that has ended as a whole is answered as it is.',
    schema: { params, response: { 200: orchestration } },
  },
  listOrchestrations: {
    method: 'GET',
    url: '/api/agents/orchestrations',
    summary: 'List one’s own orchestrations, the newest first',
    schema: {
      query: Type.Object(pageQuery()),
      response: {
        200: Type.Object({
          orchestrations: Type.Array(summary),
          ...pageAnswer,
        }),
      },
    },
  },
} as const satisfies Readonly<Record<string, Route>>;
