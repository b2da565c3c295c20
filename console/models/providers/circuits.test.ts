import { expect, test } from 'vitest';
import { readOpenCircuits } from './circuits.ts';

test('open circuits are read from the metrics, and nothing else', () => {
  const metrics = [
    '# TYPE gateway_circuit_open gauge',
    'gateway_circuit_open{provider="a",model="one"} 0',
    'gateway_circuit_open{provider="a",model="say \\"two\\", please"} 1',
    'gateway_in_flight 1',
    'gateway_circuit_open{model="three",provider="b"} 1 1700000000',
    'gateway_circuit_open{provider="b",model="four"} 10',
  ].join('\n');
  expect(readOpenCircuits(metrics)).toEqual([
    { provider: 'a', model: 'say "two", please' },
    { provider: 'b', model: 'three' },
  ]);
});
