import type { authContract } from '../../src/auth/contract.ts';
import type { chatContract } from '../../src/chat/contract.ts';
import type { gatewayContract } from '../../src/gateway/contract.ts';
import type { AnswerOf, RequestOf, Route } from '../../src/kit/contract.ts';
import type { meshContract } from '../../src/mesh/contract.ts';
import type { modelsContract } from '../../src/models/contract.ts';
import type { registryContract } from '../../src/registry/contract.ts';
import type { studioContract } from '../../src/studio/contract.ts';
import type { tracerContract } from '../../src/tracer/contract.ts';
import type { workflowContract } from '../../src/workflow/contract.ts';

interface Routes {
  readonly auth: typeof authContract.routes;
  readonly chat: typeof chatContract.routes;
  readonly gateway: typeof gatewayContract.routes;
  readonly mesh: typeof meshContract.routes;
  readonly models: typeof modelsContract.routes;
  readonly registry: typeof registryContract.routes;
  readonly studio: typeof studioContract.routes;
  readonly tracer: typeof tracerContract.routes;
  readonly workflow: typeof workflowContract.routes;
}

export type ServiceName = keyof Routes;

type RouteOf<S extends ServiceName> = Routes[S][keyof Routes[S]];
type OperationOf<R> = R extends Route ? `${R['method']} ${R['url']}` : never;

/** The operations of a service, as `GET /api/v1/traces`. */
export type Operation<S extends ServiceName> = OperationOf<RouteOf<S>>;

type RouteAt<S extends ServiceName, O extends string> = O extends `${infer M} ${infer U}`
  ? Extract<RouteOf<S>, { readonly method: M; readonly url: U }> extends infer R extends Route
    ? R
    : never
  : never;

/** What an operation is asked with: what its contract has a default for may be left out. */
export interface InputOf<S extends ServiceName, O extends string> {
  readonly params?: RequestOf<RouteAt<S, O>>['params'];
  readonly query?: Partial<NonNullable<RequestOf<RouteAt<S, O>>['query']>>;
  readonly body?: Loose<RequestOf<RouteAt<S, O>>['body']>;
}

/** A body as a caller writes it: the top-level fields that have defaults cannot be told from the others. */
type Loose<B> = B extends object ? Partial<B> : B;

/** What an operation answers when all goes well. */
export type Answer<S extends ServiceName, O extends string> = AnswerOf<RouteAt<S, O>>;
