/**
 * How often a sample of the first list is above one of the second, ties counted half: the U of Mann
 * and Whitney (1947) as a share of all pairs. 0.5 when the lists cannot be told apart.
 */
export function commonLanguageEffect(first: readonly number[], second: readonly number[]): number {
  const all = [
    ...first.map((value) => ({ value, isFirst: true })),
    ...second.map((value) => ({ value, isFirst: false })),
  ].toSorted((a, b) => a.value - b.value);
  let rankSum = 0;
  for (let start = 0; start < all.length;) {
    let end = start;
    while (end < all.length && all[end]?.value === all[start]?.value) end += 1;
    const rank = (start + 1 + end) / 2;
    rankSum += rank * all.slice(start, end).filter(({ isFirst }) => isFirst).length;
    start = end;
  }
  const u = rankSum - (first.length * (first.length + 1)) / 2;
  return u / (first.length * second.length);
}
