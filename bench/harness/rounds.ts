/** One of several that take turns. */
export interface Contestant {
  readonly name: string;
  /** One round's figure. */
  readonly measure: () => Promise<number>;
}

export interface RoundsOptions {
  readonly rounds: number;
  /** Rounds before those that count, for the JIT and the caches. */
  readonly warmUps: number;
}

/**
 * Lets all contestants measure once a round, every second round in reverse, so that a machine whose
 * speed drifts treats them alike. Answers the samples of one contestant, by name.
 */
export async function runRounds(
  contestants: readonly Contestant[],
  { rounds, warmUps }: RoundsOptions,
): Promise<(name: string) => readonly number[]> {
  const samples = new Map<string, number[]>(contestants.map(({ name }) => [name, []]));
  for (let round = -warmUps; round < rounds; round += 1) {
    const order = round % 2 === 0 ? contestants : contestants.toReversed();
    for (const { name, measure } of order) {
      const sample = await measure();
      if (round >= 0) samples.get(name)?.push(sample);
    }
  }
  return (name) => samples.get(name) ?? [];
}
