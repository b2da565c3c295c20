import { Value } from 'typebox/value';
import { Fault } from '../../kit/errors.ts';
import { findFlaws } from '../../kit/schema-flaws.ts';
import { connectionRoutes } from '../schemas/connections.ts';
import type { NewConnection, Registrar } from './registrar.ts';

/** Checks what others list as the body of `POST /connections` is checked, and then registers it. */
export function checkedRegistrar(registrar: Registrar): Registrar {
  return {
    register: async (input, identity) => {
      requireBody(input);
      return registrar.register(input, identity);
    },
    check: async (input, identity) => {
      requireBody(input);
      await registrar.check(input, identity);
    },
    update: (id, change, identity) => registrar.update(id, change, identity),
    disconnect: (id, identity) => registrar.disconnect(id, identity),
  };
}

function requireBody(input: NewConnection): void {
  const { body } = connectionRoutes.registerConnection.schema;
  const [flaw] = findFlaws(Value.Errors(body, input), body);
  if (flaw) throw new Fault('invalid', `${flaw.place || 'it'} ${flaw.message}`);
}
