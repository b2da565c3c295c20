import { pino, stdTimeFunctions, type Logger } from 'pino';
import pretty from 'pino-pretty';

export type Log = Logger;

export interface LogOptions {
  readonly level: string;
  /** Human-readable lines for a terminal instead of JSON. */
  readonly isPretty: boolean;
  /** File descriptor: 1 standard output, 2 standard error. */
  readonly descriptor?: 1 | 2;
}

const secretPaths = [
  'authorization',
  'password',
  'access_token',
  'refresh_token',
  'api_key',
  'secret',
];

/** The process's root logger. Fields that hold secrets by name are cut out wherever they stand. */
export function createLog(options: LogOptions): Log {
  const destination = options.descriptor ?? 2;
  const redact = secretPaths.flatMap((path) => [path, `*.${path}`]);
  const settings = {
    level: options.level,
    base: null,
    redact: { paths: redact, censor: '***' },
    timestamp: stdTimeFunctions.isoTime,
  };
  if (!options.isPretty)
    return pino(settings, pino.destination({ dest: destination, sync: false }));
  const stream = pretty({ destination, colorize: true, ignore: 'pid,hostname', sync: true });
  return pino(settings, stream);
}
