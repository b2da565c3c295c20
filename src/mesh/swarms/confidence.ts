/**
 * The mean without the f highest and the f lowest, which lies between the honest figures when at most
 * f are not; undefined when nothing is left.
 */
export function trimmedMean(figures: readonly number[], liars: number): number | undefined {
  const kept = figures.toSorted((a, b) => a - b).slice(liars, figures.length - liars);
  if (kept.length === 0) return undefined;
  const mean = kept.reduce((sum, figure) => sum + figure, 0) / kept.length;
  // Rounding must not take the mean out of the range of what it is made of.
  return Math.min(Math.max(mean, kept[0] ?? mean), kept.at(-1) ?? mean);
}
