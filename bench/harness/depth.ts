/** How much is measured. */
export interface Depth {
  readonly rounds: number;
  readonly warmUps: number;
  /** Per contestant and round. */
  readonly requests: number;
  /** Divides the operations of the loops. */
  readonly shortening: number;
  readonly startRounds: number;
  /** Between the second start and the reading of its memory. */
  readonly restMs: number;
  /** Also measure what takes long: a new data folder by itself, and a clean installation. */
  readonly isWhole: boolean;
  /** Only whether it runs is to be seen. */
  readonly isBrief: boolean;
}

const whole: Depth = {
  rounds: 7,
  warmUps: 2,
  requests: 6_000,
  shortening: 1,
  startRounds: 3,
  restMs: 10_000,
  isWhole: true,
  isBrief: false,
};

const quick: Depth = {
  rounds: 3,
  warmUps: 1,
  requests: 2_500,
  shortening: 8,
  startRounds: 1,
  restMs: 3_000,
  isWhole: false,
  isBrief: false,
};

/** So little that only whether everything runs can be seen. */
const brief: Depth = {
  rounds: 1,
  warmUps: 0,
  requests: 128,
  shortening: 100,
  startRounds: 1,
  restMs: 100,
  isWhole: false,
  isBrief: true,
};

/** What the command line asks for: `--brief`, `--quick`, or whole. */
export function chosenDepth(): Depth {
  return chosenOf({ whole, quick, brief });
}

/** That of these which the command line asks for. */
export function chosenOf<D>(depths: Readonly<Record<'whole' | 'quick' | 'brief', D>>): D {
  if (process.argv.includes('--brief')) return depths.brief;
  return process.argv.includes('--quick') ? depths.quick : depths.whole;
}
