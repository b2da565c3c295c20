import { EnvelopArmorPlugin } from '@escape.tech/graphql-armor';
import {
  execute,
  getOperationAST,
  GraphQLError,
  OperationTypeNode,
  type DocumentNode,
  type ExecutionArgs,
} from 'graphql/index.js';
import { createSchema, createYoga, type GraphQLParams, type Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { allows } from '../../kit/permissions.ts';
import { boundingAnswers } from './bounded-answers.ts';
import { contextOf, type Asker, type GraphqlParts, type OperationContext } from './context.ts';
import { maskError, statusOfError } from './errors.ts';
import { tellingFailures } from './failing-streams.ts';
import { schemaQuestions } from './introspection.ts';
import { operations } from './operations.ts';
import { RequestBudget } from './request-budget.ts';
import { chatSchemaText } from './schema-text.ts';
import { subscriptions } from './subscriptions.ts';
import { views } from './views.ts';

/** An operation as clients send it (GraphQL over HTTP, section 5). */
export interface OperationRequest {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: object | null | undefined;
  readonly extensions?: object | null | undefined;
}

/** What of an HTTP request matters here. */
export interface GraphqlHttpRequest {
  readonly method: 'GET' | 'POST';
  readonly accept: string;
  readonly params: OperationRequest | readonly OperationRequest[];
}

export interface EngineOptions {
  /** `permission`: who asks for the schema needs chat:admin. */
  readonly introspection: 'open' | 'permission';
  readonly log: Log;
}

/** What `execute` and `subscribe` take, once a document is found good. */
export interface PreparedOperation {
  readonly args: ExecutionArgs;
  readonly run: (args: ExecutionArgs) => unknown;
}

interface ServerContext {
  readonly asker: Asker;
  readonly budget: RequestBudget;
  readonly sent?: GraphqlHttpRequest['params'];
}

export const limits = {
  depth: 8,
  aliases: 15,
  cost: 5_000,
  directives: 50,
  tokens: 2_000,
  batch: 5,
};
const cachedLengthMax = 64 * 1024;
const cacheLengthMax = 2 * 1024 * 1024;

/** Answers operations: parses each document once, checks it, and runs it for whoever asks. */
export class GraphqlEngine {
  readonly #yoga: ReturnType<typeof openYoga>;
  readonly #log: Log;

  constructor(parts: GraphqlParts, options: EngineOptions) {
    this.#yoga = openYoga(parts, options);
    this.#log = options.log;
  }

  /** The answer over HTTP: JSON, or server-sent events where they are asked for. */
  async answer(request: GraphqlHttpRequest, asker: Asker): Promise<Response> {
    const { method, accept, params } = request;
    return await this.#yoga.fetch(
      'http://chat/graphql',
      { method, headers: { accept } },
      { asker, sent: params, budget: new RequestBudget() },
    );
  }

  /** Makes an operation ready to run, or answers why it never will be. */
  async prepare(
    params: OperationRequest,
    asker: Asker,
  ): Promise<PreparedOperation | readonly GraphQLError[]> {
    const enveloped = this.#yoga.getEnveloped({ asker, budget: new RequestBudget() });
    try {
      const document = enveloped.parse(params.query) as DocumentNode;
      const errors = enveloped.validate(enveloped.schema, document) as readonly GraphQLError[];
      if (errors.length > 0) return errors.map((error) => this.#mask(error));
      const operation = getOperationAST(document, params.operationName);
      if (!operation) throw unknownOperation();
      const contextValue: unknown = await enveloped.contextFactory();
      const isSubscription = operation.operation === OperationTypeNode.SUBSCRIPTION;
      return {
        run: isSubscription ? enveloped.subscribe : enveloped.execute,
        args: {
          schema: enveloped.schema,
          document,
          contextValue,
          // The protocol has checked that it is an object.
          variableValues: params.variables as ExecutionArgs['variableValues'],
          operationName: params.operationName,
        },
      };
    } catch (error) {
      return [this.#mask(error)];
    }
  }

  /** Without what was noted for HTTP: errors of a document are kept and told by both ways. */
  #mask(error: unknown): GraphQLError {
    const masked = maskError(error, this.#log);
    const { http, ...extensions } = masked.extensions;
    if (http === undefined) return masked;
    const { message, nodes = null, source = null, positions = null, path = null } = masked;
    return new GraphQLError(message, { nodes, source, positions, path, extensions });
  }
}

function openYoga(parts: GraphqlParts, { introspection, log }: EngineOptions) {
  const schema = createSchema<ServerContext & OperationContext>({
    typeDefs: chatSchemaText,
    resolvers: { ...views, ...operations, Subscription: subscriptions },
  });
  return createYoga<ServerContext, OperationContext>({
    schema,
    // What the edge of every service does is done there.
    cors: false,
    graphiql: false,
    landingPage: false,
    multipart: false,
    logging: false,
    batching: { limit: limits.batch },
    maskedErrors: { maskError: (error) => maskError(error, log) },
    // Its own responses are lighter than the platform's, but its streams are not what others take.
    fetchAPI: { ReadableStream: globalThis.ReadableStream },
    context: ({ asker, budget }) => contextOf(parts, asker, budget),
    parserAndValidationCache: { documentCache: textCache(), errorCache: textCache() },
    plugins: [
      takingParams,
      keepingOrder,
      EnvelopArmorPlugin(armor(introspection)),
      guardingSchema(introspection),
      refusingInHttp,
      tellingFailures,
      boundingAnswers(log),
    ],
  });
}

function armor(introspection: EngineOptions['introspection']) {
  return {
    maxDepth: { n: limits.depth },
    maxAliases: { n: limits.aliases },
    maxDirectives: { n: limits.directives },
    maxTokens: { n: limits.tokens },
    costLimit: { maxCost: limits.cost },
    blockFieldSuggestion: { enabled: introspection !== 'open', mask: '' },
  };
}

/** Keeps by the length of the texts, so that nobody fills the memory with documents of their own. */
function textCache<Value extends object>() {
  const cache = new LRUCache<string, Value>({
    max: 1_000,
    maxSize: cacheLengthMax,
    sizeCalculation: (_value, text) => text.length + 1,
  });
  return {
    get: (text: string) => cache.get(text),
    set: (text: string, value: Value) => {
      if (text.length <= cachedLengthMax) cache.set(text, value);
    },
  };
}

/** The edge has read the parameters already. */
const takingParams: Plugin<object, ServerContext> = {
  onRequestParse: ({ serverContext, setRequestParser }) => {
    const { sent } = serverContext;
    // Each is checked by yoga before anything is done with it.
    if (sent) setRequestParser(() => sent as GraphQLParams | GraphQLParams[]);
  },
};

/** Yoga's own executor has the fields of an answer in the order in which they became known. */
const keepingOrder: Plugin = {
  onExecute: ({ setExecuteFn }) => setExecuteFn(execute),
};

function guardingSchema(introspection: EngineOptions['introspection']): Plugin<OperationContext> {
  if (introspection === 'open') return {};
  const asksForSchema = schemaQuestions();
  return {
    onExecute: ({ args }) => {
      const { caller } = (args.contextValue as OperationContext).asker;
      if (allows(caller.identity.permissions, 'chat:admin')) return;
      if (!asksForSchema(args.document)) return;
      throw new Fault('forbidden', 'the schema is shown to those with the permission chat:admin', {
        reason: 'insufficient_permissions',
      });
    },
  };
}

/** A document that could not be run at all is refused by its status too, whatever media type is asked for. */
const refusingInHttp: Plugin = {
  onResultProcess: ({ result }) => {
    if (Array.isArray(result) || !('errors' in result) || 'data' in result) return;
    for (const error of result.errors ?? []) {
      const { extensions, path } = error;
      // With a path it ran, and what it asked for was refused: told in the answer, as for a query.
      const status = path === undefined ? statusOfError(error) : 200;
      const { http } = extensions;
      // Extensions are made for this; yoga takes `http` out again.
      (extensions as Record<string, unknown>)['http'] = {
        ...http,
        status: http?.status ?? status,
        spec: false,
      };
    }
  },
};

function unknownOperation(): Fault {
  return new Fault('invalid', 'the document has no operation of this name', {
    reason: 'validation_error',
  });
}
