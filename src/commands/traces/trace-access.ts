import { tracerContract } from '../../tracer/contract.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import { openEvents } from '../event-stream.ts';
import { accessService, type ServiceAccess } from '../operator/service-access.ts';

/** The tracer of a running suite, with the operator's identity. */
export interface TraceAccess extends ServiceAccess<typeof tracerContract> {
  /** Opens the stream of traces and subscribes with the filters. */
  tail(filters: TailFilters): Promise<AsyncIterable<unknown>>;
}

/** As the stream takes them; absent ones let everything through. */
export interface TailFilters {
  readonly agents?: readonly string[];
  /** Milliseconds. */
  readonly minDuration?: number;
  readonly status?: readonly string[];
}

/** Finds the tracer that the settings name. */
export async function openTraces(options: AdministrationOptions): Promise<TraceAccess> {
  const access = await accessService(tracerContract, options);
  const { url, token } = access;
  return {
    ...access,
    tail: (filters) =>
      openEvents({
        url: `${url}/api/v1/traces/stream`,
        token,
        service: tracerContract.name,
        subscription: { action: 'subscribe', filters },
      }),
  };
}
