import type { Topic } from '../kit/bus/bus.ts';
import { openTogether, type Lifetime } from '../kit/lifecycle.ts';
import type { Host } from '../kit/service.ts';
import { Alerts } from './alerts/alerts.ts';
import { CellMetrics } from './alerts/cell-metrics.ts';
import type { TracerConfig } from './config.ts';
import { completedTopic, otlpGrpc } from './events.ts';
import { Intake } from './intake/intake.ts';
import { OtlpGrpcServer } from './intake/otlp-grpc.ts';
import { TraceReader } from './reading/reader.ts';
import { Storage } from './reading/storage.ts';
import { exportBytesMax } from './schemas/otlp.ts';
import { BaselineFeed } from './metrics/baseline-feed.ts';
import { Folding } from './series/fold.ts';
import { CompletionFeed, type CompletedTrace } from './metrics/completion-feed.ts';
import { LiveWindow } from './metrics/live.ts';
import { Retention } from './series/retention.ts';

/** The service's parts, put together; disposing them ends what they do. */
export interface TracerParts extends AsyncDisposable {
  readonly host: Host<TracerConfig>;
  readonly intake: Intake;
  readonly reader: TraceReader;
  readonly storage: Storage;
  readonly live: LiveWindow;
  readonly alerts: Alerts;
  readonly completed: Topic<CompletedTrace>;
}

/** Opens everything; rejects when the database or a port does not allow it. */
export function openParts(host: Host<TracerConfig>): Promise<TracerParts> {
  return openTogether(host.log, (lifetime) => open(host, lifetime));
}

async function open(host: Host<TracerConfig>, lifetime: Lifetime) {
  const { database, bus, config, dataFolder, egress, log } = host;
  const retention = lifetime.own('retention', await Retention.open({ sql: database, log }));
  const folding = { sql: database, readyPartitions: () => retention.run(), log };
  lifetime.own('the folding of the series', new Folding(folding));
  const completed = bus.topic<CompletedTrace>(completedTopic);
  const live = new LiveWindow();
  const completions = await CompletionFeed.open({ topic: completed, live, log });
  lifetime.own('what is told of complete traces', completions);
  const intake = lifetime.own('intake', openIntake(host, { retention, completions }));
  intake.start();
  const settle = (traceId: string) => intake.settle(traceId);
  const reading = new TraceReader({ database, log, settle });
  const reader = lifetime.own('the reading of traces', reading);
  const feed = new BaselineFeed(database, (table) => intake.setBaselines(table), log);
  lifetime.defer('the histories', () => feed.stop());
  feed.start();
  const grpc = lifetime.own('OTLP/gRPC', openGrpc(host, intake));
  await grpc.listen();
  const metrics = new CellMetrics({ sql: database, now: Date.now });
  const alerts = new Alerts({ sql: database, metrics, egress, config, dataFolder, log });
  lifetime.own('the alerts', alerts);
  alerts.start();
  return { host, intake, reader, storage: new Storage(database), live, alerts, completed };
}

interface IntakeSurroundings {
  readonly retention: Retention;
  readonly completions: CompletionFeed;
}

function openIntake(
  { database, config, log }: Host<TracerConfig>,
  { retention, completions }: IntakeSurroundings,
): Intake {
  const { quietMs, partialMs, openSpansMax, queuedMegabytes } = config;
  return new Intake({
    database,
    readyPartitions: () => retention.run(),
    log,
    quietMs,
    partialMs,
    openSpansMax,
    exportBytesMax,
    queuedBytesMax: queuedMegabytes * 1024 * 1024,
    onComplete: (events) => completions.tell(events),
  });
}

function openGrpc(host: Host<TracerConfig>, intake: Intake): OtlpGrpcServer {
  const { address, authenticator, log, ports } = host;
  return new OtlpGrpcServer({ address, port: ports[otlpGrpc] ?? 0, authenticator, intake, log });
}
