import type { EventInput, ExportAttributes } from '../../src/tracer/otlp/export-model.ts';
import type { Operation, Topic } from './operations.ts';
import type { Random } from './random.ts';

/** What all spans of a trace have in common. */
export interface Occasion {
  readonly agent: string;
  readonly session: string;
  readonly user: string;
}

interface Circumstances {
  readonly operation: Operation;
  readonly occasion: Occasion;
  readonly isError: boolean;
  readonly random: Random;
}

/** The attributes that instrumentations give to such a span. */
export function attributesOf(circumstances: Circumstances): ExportAttributes {
  const { operation, occasion } = circumstances;
  return [['agent.id', occasion.agent], ...byTopic[operation.topic](circumstances)];
}

const byTopic: Readonly<Record<Topic, (circumstances: Circumstances) => ExportAttributes>> = {
  http: ({ operation, occasion, isError }) => {
    const [method = '', route = '/'] = operation.name.split(' ');
    const path = route.replace('{id}', occasion.agent).replace('{name}', 'web_search');
    return [
      ['http.request.method', method],
      ['url.path', path],
      ['http.route', route],
      ['http.response.status_code', isError ? 500n : 200n],
      ['server.address', `${operation.service}.agents.svc.cluster.local`],
      ['network.protocol.version', '1.1'],
      ['user_agent.original', 'node-fetch/3.3'],
      ['enduser.id', occasion.user],
    ];
  },
  db: ({ operation }) => {
    const [statement = '', table = ''] = operation.name.split(' ');
    return [
      ['db.system.name', 'postgresql'],
      ['db.operation.name', statement],
      ['db.collection.name', table],
      [
        'db.query.text',
        `SELECT id, payload FROM ${table} WHERE tenant_id = $1 AND id = $2 LIMIT 100`,
      ],
      ['server.port', 5432n],
    ];
  },
  genai: ({ operation, occasion, random }) => [
    ['gen_ai.operation.name', 'chat'],
    ['gen_ai.provider.name', 'openai'],
    ['gen_ai.request.model', operation.name.slice('chat '.length)],
    ['gen_ai.request.temperature', 0.2],
    ['gen_ai.request.max_tokens', 1024n],
    ['gen_ai.usage.input_tokens', BigInt(200 + random.below(3_000))],
    ['gen_ai.usage.output_tokens', BigInt(20 + random.below(700))],
    ['gen_ai.response.id', `chatcmpl-${random.hex(24)}`],
    ['gen_ai.response.finish_reasons', ['stop']],
    ['gen_ai.conversation.id', occasion.session],
  ],
  tool: ({ operation, random }) => [
    ['gen_ai.operation.name', 'execute_tool'],
    ['gen_ai.tool.name', operation.name.slice('execute_tool '.length)],
    ['gen_ai.tool.call.id', `call_${random.hex(16)}`],
  ],
  msg: ({ random }) => [
    ['messaging.system', 'kafka'],
    ['messaging.destination.name', 'billing.events'],
    ['messaging.message.id', random.hex(16)],
  ],
  internal: ({ occasion, random }) => [
    ['session.id', occasion.session],
    ['thread.id', BigInt(random.below(8))],
  ],
};

/** The event of a span that failed. */
export function exceptionAt(timeNs: bigint, random: Random): EventInput {
  const [type, message] = exceptions[random.below(exceptions.length)] ?? ['Error', ''];
  return {
    timeNs,
    name: 'exception',
    attributes: [
      ['exception.type', type],
      ['exception.message', message],
      ['exception.stacktrace', [`${type}: ${message}`, ...stack].join('\n')],
    ],
  };
}

const exceptions = [
  ['TimeoutError', 'upstream timed out after 30000ms'],
  ['ConnectionError', 'connect ECONNREFUSED 10.0.3.17:8080'],
  ['TypeError', "Cannot read properties of undefined (reading 'id')"],
] as const;

const stack = [
  '    at Client.request (/app/node_modules/undici/lib/client.js:120:11)',
  '    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)',
  '    at async handler (/app/src/handler.ts:42:18)',
];

/** The resource of a service that runs as one process. */
export function resourceOf(service: string): ExportAttributes {
  return [
    ['service.name', service],
    ['service.version', '1.4.2'],
    ['service.instance.id', `${service}-6f9c7d5b8-x2x7q`],
    ['telemetry.sdk.language', 'nodejs'],
    ['telemetry.sdk.name', 'opentelemetry'],
    ['telemetry.sdk.version', '2.2.0'],
    ['host.name', `node-${service}`],
    ['process.pid', 4312n],
    ['deployment.environment.name', 'prod'],
  ];
}
