import { expect, test } from 'vitest';
import { findTool, markedName, nameTools } from './tool-names.ts';

const at = (day: number) => new Date(Date.UTC(2026, 0, day));
const first = { id: 'wfl_aaaaaaaa', name: 'Pay bill', namedAt: at(2) };
const second = { id: 'wfl_bbbbbbbb', name: 'Pay bill', namedAt: at(3) };

test('the first of a name keeps it, whichever the ids', () => {
  const named = nameTools([second, { ...first, id: 'wfl_zzzzzzzz' }]);
  expect(named.get('pay_bill')?.namedAt).toEqual(first.namedAt);
  expect(named.get(markedName(second))).toBe(second);
});

test('nobody takes the marked name of another by its own name', () => {
  const mark = markedName(first);
  const thief = { id: 'wfl_cccccccc', name: mark, namedAt: at(1) };
  const all = [thief, first];
  expect(findTool(all, mark)).toBe(first);
  expect([...nameTools(all).keys()]).toEqual([markedName(thief), 'pay_bill']);
});
