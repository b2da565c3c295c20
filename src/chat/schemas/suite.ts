import { Type } from 'typebox';
import { healthRoute, type Route } from '../../kit/contract.ts';
import { metricsRoute } from '../../kit/metrics.ts';
import { AnyKey } from '../../kit/any-key.ts';

const ChangeAnswer = {
  success: Type.Boolean({ description: 'false when a service is not as was asked for' }),
  message: Type.String({ description: 'what was done, and why what was not' }),
};

const Container = Type.Object({
  name: Type.String({ description: "the service's" }),
  status: Type.String({
    description:
      '`Up 3 minutes (healthy)`: since when, and what its health says; `unhealthy` when it does not ' +
      'answer within a second. `Exited (0) 3 minutes ago`: it was stopped; with 1 its start failed. ' +
      'What another process hosts says `elsewhere`, and `Unreachable` when it does not answer',
  }),
  ports: Type.String({ description: '`127.0.0.1:7404->7404/tcp`; empty when it does not run' }),
  image: Type.String({ description: '`ennead/<service>:<version>`' }),
  error: Type.Optional(Type.String({ description: 'why its last start failed' })),
});

const control = { permission: 'suite:manage' } as const;

/** What tells of chat, and what governs its suite. */
export const suiteRoutes = {
  health: healthRoute('/health', {
    service: Type.String(),
    timestamp: Type.String({ format: 'date-time' }),
    ecosystem: Type.Record(AnyKey, Type.String(), {
      description: 'where each service of the suite that answers is reached, by name',
    }),
    voice: Type.Object({
      enabled: Type.Boolean({ description: 'commands are obeyed' }),
      status: Type.String({
        description:
          '`text-commands`: what was said comes transcribed, as text. `degraded`: no model answers, so ' +
          'that only the built-in grammar is understood',
      }),
    }),
    librechat: Type.Object(
      {
        enhanced: Type.Boolean({
          description: 'the gateway answers: completions of all its models',
        }),
        kagent: Type.Boolean({ description: 'the mesh answers: agents and orchestration' }),
        ossa: Type.Boolean({ description: 'the registry answers: tools' }),
        agentStudio: Type.Boolean({
          description: 'the studio answers: workspaces and their agents',
        }),
      },
      { description: 'what else of the suite works behind chat, measured in the last seconds' },
    ),
    consumers: Type.Record(AnyKey, Type.Boolean(), {
      description: 'whether the services that use chat, by name, are there now',
    }),
    rocketship: Type.Object(
      {
        enabled: Type.Boolean({ description: 'any feature works' }),
        features: Type.Integer({
          description: 'how many features `/api/info` names',
        }),
        statusEndpoint: Type.String({ description: 'the path that tells of all services' }),
      },
      { description: 'the suite as a whole' },
    ),
  }),
  info: {
    method: 'GET',
    url: '/api/info',
    summary: 'Say what this service is and where what it offers is',
    auth: 'none',
    schema: {
      response: {
        200: Type.Object({
          name: Type.String(),
          description: Type.String(),
          version: Type.String(),
          features: Type.Array(Type.String(), { description: 'what works now' }),
          endpoints: Type.Record(AnyKey, Type.String(), {
            description: 'paths that answer, by the name of their area',
          }),
        }),
      },
    },
  },
  startServices: {
    method: 'POST',
    url: '/api/cli/start',
    summary: 'Start services of the suite',
    description:
      'Answers once they run. Those that another process hosts cannot be started from here.',
    ...control,
    schema: {
      body: Type.Object({
        profile: Type.String({
          minLength: 1,
          maxLength: 64,
          description: "`core` (auth, models, gateway and chat), `full` (all), or a service's name",
        }),
      }),
      response: {
        200: Type.Object({
          ...ChangeAnswer,
          services: Type.Array(Type.String(), { description: 'names of those that run now' }),
        }),
      },
    },
  },
  stopServices: {
    method: 'POST',
    url: '/api/cli/stop',
    summary: 'Stop services of the suite',
    description:
      'Without a profile all but auth and chat, which never stop by themselves. Running requests have ' +
      'five seconds to end.',
    ...control,
    schema: {
      body: Type.Object({
        profile: Type.Optional(
          Type.String({ minLength: 1, maxLength: 64, description: 'as for starting' }),
        ),
      }),
      response: { 200: Type.Object(ChangeAnswer) },
    },
  },
  listContainers: {
    method: 'GET',
    url: '/api/cli/status',
    summary: 'Say how every service of the suite is',
    ...control,
    schema: { response: { 200: Type.Object({ containers: Type.Array(Container) }) } },
  },
  metrics: metricsRoute('/metrics'),
} as const satisfies Record<string, Route>;
