import type { Balancer } from '../balancing/balancer.ts';
import { strategies } from '../balancing/strategy.ts';
import type { Choose } from './calls.ts';
import { whyNotCallable } from './exchange.ts';

/** Chooses as discovery does, among those that can be called. */
export function chooseBy(balancer: Pick<Balancer, 'pick'>): Choose {
  return (capability, { strategy, key, excluded }) =>
    balancer.pick(capability, {
      strategy: strategies.find((known) => known === strategy),
      key,
      accepts: (connection) => !excluded.has(connection.id) && !whyNotCallable(connection),
    })?.connection;
}
