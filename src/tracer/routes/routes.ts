import type { Handlers } from '../../kit/http/call.ts';
import type { tracerContract } from '../contract.ts';
import type { Ingest } from '../interop/importer.ts';
import type { TracerParts } from '../parts.ts';
import { listOperations, listServices } from '../reading/catalogue-store.ts';
import { findIds, shownFrom } from '../reading/listing.ts';
import { readCalls } from '../metrics/calls.ts';
import { readBaselines, readWindows } from '../metrics/history.ts';
import { operationTerm, serviceTerm } from '../trace/terms.ts';
import { alertHandlers } from './alerts.ts';
import { explainHandlers, type ExplainParts } from './explain.ts';
import { interopHandlers, type InteropParts } from './interop.ts';
import { metricHandlers } from './metrics.ts';
import { otlpHandlers } from './otlp.ts';
import { listSourceOf, traceHandlers } from './traces.ts';

/** The HTTP edge of the tracer. */
export function tracerHandlers(parts: TracerParts): Handlers<typeof tracerContract> {
  const { host, intake, live, alerts } = parts;
  return {
    ...otlpHandlers({ intake }),
    ...traceHandlers(parts),
    ...explainHandlers(explainParts(parts)),
    ...metricHandlers({
      sql: host.database,
      nowMs: Date.now,
      live: () => {
        const { openTraces, queuedExports } = intake.state;
        return live.read({ activeTraces: openTraces, queuedRequests: queuedExports });
      },
    }),
    ...alertHandlers({ alerts, log: host.log }),
    ...interopHandlers(interopParts(parts)),
  };
}

function explainParts({ host, reader }: TracerParts): ExplainParts {
  const { database } = host;
  return {
    view: (traceId, view, input) => reader.show(traceId, { view, input }),
    compare: (baseId, otherId) => reader.pair('compare', baseId, otherId),
    baselines: (operations) => readBaselines(database, Date.now(), operations),
    windows: (range) => readWindows(database, range, Date.now()),
  };
}

function interopParts(parts: TracerParts): InteropParts {
  const { host, intake, reader } = parts;
  const { database } = host;
  const source = listSourceOf(parts);
  const ingest: Ingest = (body) => intake.submit(body, { format: 'protobuf', coding: undefined });
  return {
    ingest,
    otlpJson: (traceId) => reader.view(traceId, 'otlp', undefined),
    view: (traceId, view, input) => reader.show(traceId, { view, input }),
    findTraces: async ({ service, operation, fromUs, toUs, durationUsMin, limit }) => {
      const minDurationUs = durationUsMin;
      const terms = termsOf(service, operation);
      // Some part of them lies between the two.
      const within = { endFromUs: fromUs, toUs };
      const filter = { ...shownFrom(Date.now()), minDurationUs, terms, ...within };
      return findIds(source, filter, limit);
    },
    services: () => listServices(database),
    operations: (service) => listOperations(database, service),
    dependencies: (range) => readCalls(database, range, Date.now()),
    now: Date.now,
  };
}

/** An operation alone says nothing: names are the services' own. */
function termsOf(service: string | undefined, operation: string | undefined): number[] {
  if (service === undefined) return [];
  if (operation === undefined) return [serviceTerm(service)];
  return [serviceTerm(service), operationTerm(service, operation)];
}
