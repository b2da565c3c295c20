import { chosenOf } from '../harness/depth.ts';

/** How much is measured. */
export interface Depth {
  readonly rounds: number;
  readonly warmUps: number;
  /** Spans stored before reading is measured; each round sends its share of them twice, plain and gzip. */
  readonly spans: number;
  /** Over how many hours the first half began; the fewer a minute, the more cells of time they fill. */
  readonly hoursBack: number;
  /** How long reading is measured while spans come. */
  readonly readingSeconds: number;
}

const whole: Depth = {
  rounds: 4,
  warmUps: 1,
  spans: 1_000_000,
  hoursBack: 48,
  readingSeconds: 20,
};

const quick: Depth = {
  rounds: 2,
  warmUps: 1,
  spans: 100_000,
  hoursBack: 4.8,
  readingSeconds: 8,
};

const brief: Depth = {
  rounds: 1,
  warmUps: 1,
  spans: 20_000,
  hoursBack: 1,
  readingSeconds: 2,
};

/** What the command line asks for. */
export function chosenDepth(): Depth {
  return chosenOf({ whole, quick, brief });
}
