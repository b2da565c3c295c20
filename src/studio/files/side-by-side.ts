/**
 * Does some work for each item, so many at once; answers in the order of the items. After a failure nothing
 * more is begun, and it rejects once what was begun has ended.
 */
export async function sideBySide<Item, Result>(
  items: readonly Item[],
  count: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const failures: unknown[] = [];
  const entries = items.entries();
  const go = async () => {
    for (const [index, item] of entries) {
      if (failures.length > 0) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, items.length) }, go));
  if (failures.length > 0) throw failures[0];
  return results;
}
