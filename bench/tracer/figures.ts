import { atLeast, atMost, median, type Figure, type Row } from '../harness/figure.ts';
import { senders } from './client.ts';
import type { Measured } from './contest.ts';
import { batchSpans } from './exports.ts';
import type { IntakeFigures } from './intake.ts';
import { questions } from './reading.ts';

export interface DatabaseName {
  readonly name: string;
  readonly spansPerCoreGoal: number;
  /** Its server is a process of its own, whose time is told too. */
  readonly hasServer: boolean;
}

const megabyte = 1024 * 1024;

/** What was measured on a database, as it is printed. */
export function figuresOf(database: DatabaseName, measured: Measured): Figure[] {
  return [
    intakeFigure(database, 'plain', measured.intake),
    intakeFigure(database, 'gzip', measured.intake),
    speedFigure(database, measured),
    sizeFigure(database, measured),
    readingFigure(database, measured),
    delayFigure(database, measured),
    memoryFigure(database, measured),
  ];
}

function intakeFigure(
  { name, spansPerCoreGoal, hasServer }: DatabaseName,
  form: 'plain' | 'gzip',
  { [form]: rounds, decoding }: IntakeFigures,
): Figure {
  const unit = 'spans/s per core';
  const [way, limit] =
    form === 'plain'
      ? (['scan', 'their heads scanned and no more'] as const)
      : (['inflate-scan', 'inflated, their heads scanned and no more'] as const);
  const withServer: Row = {
    name: 'ours, and the processes of PostgreSQL',
    role: 'ours',
    unit,
    samples: rounds.map(({ perCoreWithServer }) => perCoreWithServer),
  };
  return {
    title: `Spans stored and analysed, OTLP/HTTP protobuf, ${form}, ${name}`,
    rows: [
      {
        name: 'ours, all threads of the process, until all traces are complete',
        role: 'ours',
        unit,
        samples: rounds.map(({ perCore }) => perCore),
        goal: atLeast(spansPerCoreGoal, '/s'),
      },
      ...(hasServer ? [withServer] : []),
      { name: limit, role: 'limit', unit, samples: decoding(way) },
      {
        name: 'protobufjs: decoded to objects, not inflated, no more',
        role: 'peer',
        unit,
        samples: decoding('protobufjs'),
      },
    ],
    note: `${senders} senders, exports of ${batchSpans} spans of one of 9 services and of many traces, 12.6 spans a trace`,
  };
}

function speedFigure({ name }: DatabaseName, { intake, postponed }: Measured): Figure {
  const row = (what: 'acknowledged' | 'completed', form: 'plain' | 'gzip'): Row => ({
    name: `${what}, ${form}`,
    role: 'ours',
    unit: 'spans/s',
    samples: intake[form].map((round) => round[`${what}PerSecond`]),
  });
  return {
    title: `Spans by the clock, ${name}`,
    rows: [
      row('acknowledged', 'plain'),
      row('acknowledged', 'gzip'),
      row('completed', 'plain'),
      row('completed', 'gzip'),
    ],
    note: `completed: until all traces are, without the 2 s of quiet; only worth something on a quiet machine; ${postponed} exports were asked to come again later`,
  };
}

function sizeFigure({ name }: DatabaseName, { stored, tables }: Measured): Figure {
  const { spansStored, tracesStored, diskUsage } = stored;
  const bytes = Number.parseFloat(diskUsage) * 1e6;
  const all = [...tables.values()].reduce((sum, size) => sum + size, 0);
  const shares = [...tables]
    .filter(([, size]) => size > all / 100)
    .map(([table, size]) => `${table} ${((size / all) * 100).toFixed(0)} %`);
  const counts = `${spansStored.toLocaleString('en-US')} spans in ${tracesStored.toLocaleString('en-US')} traces`;
  return {
    title: `Bytes of a stored span, all tables of the tracer, ${name}`,
    rows: [
      {
        name: counts,
        role: 'ours',
        unit: 'bytes',
        samples: [bytes / spansStored],
        goal: atMost(90, 'bytes'),
      },
    ],
    note: `at the end of the run: ${shares.join(', ')}`,
  };
}

const goalsMs: Readonly<Record<string, number>> = {
  [questions.list]: 20,
  [questions.byAgent]: 20,
  [questions.failed]: 20,
  [questions.failedByAgent]: 20,
  [questions.get]: 10,
  [questions.byOperation]: 100,
  [questions.agents]: 100,
  [questions.dependencies]: 100,
};

function readingFigure({ name }: DatabaseName, { reading }: Measured): Figure {
  const rows = [...reading.answers].map(([question, samples]): Row => {
    const goal = goalsMs[question];
    const quiet = median(reading.quietAnswers.get(question) ?? []).toFixed(0);
    return {
      name: `${question}, p95 of ${samples.length}; median while nothing comes: ${quiet} ms`,
      role: 'ours',
      unit: 'ms',
      samples: [quantile(samples, 0.95)],
      ...(goal === undefined ? {} : { goal: atMost(goal, 'ms') }),
    };
  });
  return {
    title: `Reading while ${Math.round(reading.perSecond).toLocaleString('en-US')} spans come in a second, ${name}`,
    rows,
    note: `one reader with a pause of 50 ms after each answer; half the speed at which gzip was completed is ${Math.round(reading.aimedPerSecond).toLocaleString('en-US')}/s; wall time`,
  };
}

function delayFigure({ name }: DatabaseName, { reading }: Measured): Figure {
  const unit = 'ms';
  const { delayP99Ms, neighbour } = reading;
  const neighbourRow = (what: string, samples: readonly number[]): Row => ({
    name: `${what}, p99 of ${samples.length}`,
    role: 'check',
    unit,
    samples: [quantile(samples, 0.99)],
  });
  return {
    title: `Another service in the same process meanwhile, ${name}`,
    rows: [
      {
        name: 'delay of the event loop, p99',
        role: 'ours',
        unit,
        samples: [delayP99Ms],
        goal: atMost(20, unit),
      },
      neighbourRow('answer of auth from memory', neighbour.memoryMs),
      neighbourRow('answer of auth from the database', neighbour.databaseMs),
    ],
    note: 'looked at every millisecond; what is said is beyond that; wall time',
  };
}

function memoryFigure({ name }: DatabaseName, { memory }: Measured): Figure {
  const row = (what: string, bytes: number): Row => ({
    name: what,
    role: 'ours',
    unit: 'MB',
    samples: [bytes / megabyte],
  });
  return {
    title: `Resident memory of auth and the tracer, ${name}`,
    rows: [
      row('6 s after the start', memory.atRest.residentBytes),
      row('6 s after the last span', memory.loaded.residentBytes),
      row('the most until the end', memory.end.peakBytes),
    ],
    note: 'garbage is not collected for it',
  };
}

function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
